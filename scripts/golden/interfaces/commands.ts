import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

/** The root of the project, without a slash at its end. */
export const PROJECT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/[/\\]$/, "");

const LEAGUE = "scripts/league.ts";
const PROGRAMS = [LEAGUE, "league-manager/main.ts", "referee/main.ts", "player/main.ts"];

/** What a command has printed, and its exit code. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/**
 * Runs a program of the project in its root, with the default width of help texts. Only PATH and HOME are taken from the environment, because options
 * have defaults in it.
 */
export function runProgram(program: string, args: readonly string[]): Promise<Printed> {
  const env = { PATH: process.env.PATH ?? "", HOME: tmpdir(), TZ: "UTC", NO_COLOR: "1", MCP_DISABLE_BROWSER: "1" };
  const given = ["--require", "./shared/runtime/compile-cache.cjs", program, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, given, { cwd: PROJECT, env, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: error === null ? 0 : typeof error.code === "number" ? error.code : -1 }),
    );
  });
}

/** What the output of a command contains besides its subject: how long a match has taken, and the date and the random part in the name of the folder of a run. */
const MEASURED = [
  [/\bplayed in .+?; logs\b/g, "played in <time>; logs"],
  [/\bruns\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[\da-f]{6}\b/g, "runs/<run>"],
] as const;

/**
 * Runs `league`. Resolves with what it prints and its exit code, as text. Paths in the project are shown from its root; `places` are names for other
 * folders.
 */
export async function printedBy(
  args: readonly string[],
  places: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  const { stdout, stderr, code } = await runProgram(LEAGUE, args);
  let shown = [
    `$ league ${args.join(" ")}`,
    stdout,
    ...(stderr === "" ? [] : [`stderr: ${stderr}`]),
    `exit code ${code}\n`,
  ].join("\n");
  for (const [path, name] of places) shown = shown.replaceAll(path, name);
  for (const [pattern, name] of MEASURED) shown = shown.replaceAll(pattern, name);
  return shown.replaceAll(PROJECT, "<project>");
}

/** The help texts of all programs and commands. */
export async function helpTexts(): Promise<string> {
  const texts: string[] = [];
  for (const program of PROGRAMS) texts.push(...(await helpOf(program, [])));
  return texts.join("\n");
}

/** The help text of a command and of its subcommands. */
async function helpOf(program: string, words: readonly string[]): Promise<readonly string[]> {
  const { stdout, stderr, code } = await runProgram(program, [...words, "--help"]);
  const texts = [`$ ${[program, ...words].join(" ")} --help: exit code ${code}\n${stdout}${stderr}`];
  const [, listed = ""] = /\nCommands:\n((?: {2}.*\n)+)/.exec(stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = ""]) => name).filter((name) => name !== "help");
  for (const name of names) texts.push(...(await helpOf(program, [...words, name])));
  return texts;
}
