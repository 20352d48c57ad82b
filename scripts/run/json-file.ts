import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes JSON into a file that only its user can read. The new content is on disk before the file is replaced. If the process is killed or the machine
 * loses power, the file has either its old or its new content.
 */
export function writeJsonAtomically(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  if (process.platform !== "win32") syncFolder(dirname(file)); // Windows cannot open folders
}

/** Writes the entries of a folder to the disk. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a JSON file. Returns null if it does not exist, cannot be read or is not JSON. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
