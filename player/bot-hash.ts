import { readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { VERSION } from "#shared/runtime/program.ts";

/**
 * Returns the hash that identifies a version of a bot: the SHA-256 of its file, or of the lines `hash  path` of its files, as `sha256sum` prints them,
 * with the paths from the folder, sorted. Undefined without files, or if a file cannot be read.
 */
export function hashOfFiles(folder: string, files: Iterable<string>): string | undefined {
  const paths = [...new Set(files)].map((file) => relative(folder, file).split(sep).join("/")).sort();
  try {
    const hashes = paths.map((path) => sha256Hex(readFileSync(resolve(folder, path))));
    if (hashes.length <= 1) return hashes[0];
    return sha256Hex(hashes.map((hash, i) => `${hash}  ${paths[i]}\n`).join(""));
  } catch {
    return undefined;
  }
}

/** Returns the hash of the files of a bot file: itself, and those that it imports from its folder. Packages do not count. */
export function hashOfImports(file: string, imported: readonly string[]): string | undefined {
  const folder = dirname(file);
  const isOwn = (path: string): boolean => path.startsWith(folder + sep) && !path.split(sep).includes("node_modules");
  return hashOfFiles(folder, [file, ...imported.filter(isOwn)]);
}

/**
 * Returns the hash of a command: the SHA-256 of its words, in which the hash of a file stands for its name. So the options of a program are part of its version,
 * and the place of its files is not.
 */
export function hashOfCommand(command: string, folder: string): string {
  const words = command
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  const contents = words.map((word) => {
    const path = resolve(folder, word);
    return (isFile(path) && hashOfFiles(folder, [path])) || word;
  });
  return sha256Hex(contents.join(" "));
}

/**
 * Returns the hash of a built-in bot. It depends on the name of the bot and the version of the program. A built-in bot uses code of many folders, so the hash of
 * its file alone does not identify a version.
 */
export const hashOfBuiltIn = (name: string): string => sha256Hex(`built-in bot ${name} ${VERSION}`);
