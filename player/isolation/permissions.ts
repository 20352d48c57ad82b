import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildFailure } from "esbuild";
import { moduleUrl } from "#shared/lib/module-file.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { typeAdvice } from "#shared/runtime/files/thrown-position.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { withEsbuild } from "#shared/web/esbuild.ts";

/** The program that runs the code of a bot file. */
export const BOT_PROCESS = fileURLToPath(moduleUrl("../bot-process/main.ts", import.meta.url));

/** The environment variables that every bot gets. The others may contain tokens and API keys. */
const VARIABLES = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "NO_COLOR",
  "FORCE_COLOR",
  "SystemRoot",
  "TEMP",
  "TMP", // Windows
];

const CODE = /\.([cm]?[jt]s|json|wasm)$/;
/** The folders of this project whose code a bot may import. */
const PROJECT = ["..", "../../shared"].map((path) => resolve(dirname(BOT_PROCESS), path));

/** The files that the process of a bot may read without options. */
interface CodeFiles {
  /** The absolute paths of the bot file, the code that it imports, and the files of the program that runs it. */
  readonly files: readonly string[];
  /** The paths of the bot file and the code that it imports. */
  readonly ofBot: readonly string[];
  /** The first import that was not found; null if there is none. */
  readonly fault: string | null;
}

/** Finds the files of a bot. An import whose name is computed is not found. */
export function codeFilesOf(file: string): Promise<CodeFiles> {
  // One use for both builds, so that they have one helper process.
  return withEsbuild(() => search(file));
}

async function search(file: string): Promise<CodeFiles> {
  const always = [...(await importedFiles(BOT_PROCESS)), file];
  try {
    const imported = (await importedFiles(file)).filter((path) => isCodeOf(file, path));
    return { files: [...always, ...imported], ofBot: [file, ...imported], fault: null };
  } catch (thrown) {
    const { errors } = thrown as Partial<BuildFailure>;
    if (!errors) throw thrown; // esbuild itself failed
    const [error] = errors;
    const { line, column } = error?.location ?? {};
    const text = `${error?.text}${typeAdvice(error?.text ?? "")}`;
    return { files: always, ofBot: [file], fault: `${file}:${line}:${(column ?? 0) + 1}: ${text}` };
  }
}

/**
 * Returns whether a bot may read a file that it imports. Not every import is allowed, because code that never runs could import any file of
 * the machine, such as the token of another player.
 */
function isCodeOf(bot: string, path: string): boolean {
  const isIn = (folder: string): boolean => path.startsWith(folder + sep);
  return CODE.test(path) && (path.split(sep).includes("node_modules") || [dirname(bot), ...PROJECT].some(isIn));
}

/**
 * Returns the options of Node.js that allow a bot to read its code, and also what its player allows it. Throws StartError
 * (exit code 3) for a path with an asterisk, because Node.js would allow all paths that begin with the characters before it.
 */
export function nodeOptions(files: readonly string[], { net, read, write }: BotPermissions): readonly string[] {
  const pattern = [...files, ...read, ...write].find((path) => path.includes("*"));
  if (pattern !== undefined) {
    throw new StartError(
      `${pattern}: a path that a bot uses may not contain *; rename the file or folder`,
      EXIT.config,
    );
  }
  const packages = files.flatMap((file) => foldersAbove(file).map((folder) => join(folder, "package.json")));
  return [
    "--permission",
    "--disable-warning=SecurityWarning",
    "--no-experimental-sqlite", // Node's permissions do not apply to the files of node:sqlite
    "--allow-worker", // for the watching thread. The process gives this permission up before it loads the bot.
    ...[...new Set([...files, ...packages, ...read, ...write])].map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    ...(net ? ["--allow-net"] : []),
  ];
}

/** Returns the environment of a bot: the harmless variables, and those that its player allows it. */
export const environmentOf = ({ env }: BotPermissions): NodeJS.ProcessEnv =>
  Object.fromEntries(
    [...VARIABLES, ...env].flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );

/** Returns the folders above a path, the nearest one first. */
function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/**
 * Returns the absolute paths of a .ts or .js file and the files that it imports, directly or indirectly. An import whose name is computed is
 * not found. Rejects with the BuildFailure of esbuild if a file has a syntax error or an import does not exist.
 */
export async function importedFiles(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const { metafile } = await withEsbuild(({ build }) =>
    build({
      entryPoints: [file],
      absWorkingDir: folder,
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      // Node.js also loads imports that are not used.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      loader: { ".node": "empty", ".wasm": "empty" },
      logLevel: "silent",
    }),
  );
  return Object.keys(metafile.inputs).map((path) => resolve(folder, path));
}
