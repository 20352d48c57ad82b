import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contentsOf, MANIFEST, writeExport } from "../archive/format.ts";

/** The root of the project, without a slash at its end. */
export const PROJECT = fileURLToPath(new URL("../..", import.meta.url)).replace(/[/\\]$/, "");

const LEAGUE = "scripts/league.ts";
const PROGRAMS = [LEAGUE, "league-manager/main.ts", "referee/main.ts", "player/main.ts"];

/** What a command has printed, and its exit code. */
interface Printed {
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

/** Exports and folders of runs that an earlier version has written (`docs/simulation.md`). */
const FIXTURES = "scripts/golden/fixtures";
const EXPORTS = `${FIXTURES}/exports`;
export const FOLDERS = `${FIXTURES}/folders`;

export const namesIn = (folder: string): readonly string[] => readdirSync(join(PROJECT, folder)).sort();

/** Checks the exports of an earlier version, and forged copies of them, as their readers do. */
export async function verifiedExports(): Promise<string> {
  const texts: string[] = [];
  for (const name of namesIn(EXPORTS)) {
    texts.push(await printedBy(["verify", `${EXPORTS}/${name}`]));
    texts.push(await printedBy(["verify", `${EXPORTS}/${name}`, "--json"]));
    texts.push(await verifiedForgery(name));
  }
  return texts.join("\n");
}

/** Checks a forged copy of an export: the first match with points has other points, and the manifest has the hashes of the changed files. */
async function verifiedForgery(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    const source = join(PROJECT, EXPORTS, name);
    const names = contentsOf(source).files.filter((file) => file !== MANIFEST);
    const files = new Map(names.toSorted().map((file) => [file, readFileSync(join(source, file), "utf8")]));
    const [file = "", text = ""] =
      [...files].find(([path, content]) => path.startsWith("matches") && POINTS.test(content)) ?? [];
    files.set(
      file,
      text.replace(POINTS, (_, before: string, points: string) => before + (points === "3" ? "0" : "3")),
    );
    writeExport(folder, files, () => null);
    return await printedBy(["verify", folder], new Map([[folder, `<forged copy of ${name}>`]]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The points of the first player of a match. */
const POINTS = /("match_points": \{\s+"\w+": )(\d)/;

/** Exports the folders of an earlier version: the files must be those of the fixtures, byte for byte. Also writes the reports that are texts. */
export async function exportedFolders(): Promise<string> {
  const texts: string[] = [];
  for (const name of namesIn(FOLDERS)) {
    const folder = mkdtempSync(join(tmpdir(), "golden-"));
    const [out, reports] = [join(folder, "export"), join(folder, "reports")];
    const places = new Map([[folder, "<folder>"]]);
    try {
      const source = copied(name, folder);
      texts.push(await printedBy(["export", source, "--out", out], places));
      texts.push(
        `differences from ${EXPORTS}/${name}: ${differencesOf(out, join(PROJECT, EXPORTS, name)).join(", ") || "none"}\n`,
      );
      texts.push(await printedBy(["export", source, "--format", "csv,pgn", "--out", reports], places));
      for (const file of contentsOf(reports).files.toSorted())
        texts.push(`# ${name}, ${file}\n${readFileSync(join(reports, file), "utf8")}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return texts.join("\n");
}

/** Copies a folder of a run, because SQLite writes files beside a database that it reads. Returns the path of the copy. */
export function copied(name: string, folder: string): string {
  const copy = join(folder, name);
  cpSync(join(PROJECT, FOLDERS, name), copy, { recursive: true });
  return copy;
}

/** The files of two folders that differ, or that only one has. */
function differencesOf(folder: string, expected: string): readonly string[] {
  const names = new Set([...contentsOf(folder).files, ...contentsOf(expected).files]);
  const read = (root: string, name: string): string | null => {
    try {
      return readFileSync(join(root, name), "utf8");
    } catch {
      return null;
    }
  };
  return [...names].sort().filter((name) => read(folder, name) !== read(expected, name));
}

/** The other commands that print documents: with the folders of an earlier version, or with short matches. */
export async function printedDocuments(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    for (const name of namesIn(FOLDERS)) copied(name, folder);
    const places = new Map([[folder, "<folder>"]]);
    const run = join(folder, "run");
    const commands: readonly (readonly string[])[] = [
      ["ratings", ...namesIn(FOLDERS).map((name) => join(folder, name))],
      ["ratings", ...namesIn(EXPORTS).map((name) => `${EXPORTS}/${name}`), "--game", "kuhn_poker", "--json"],
      ["personal-data", "Ada", "--data", run],
      ["personal-data", "P03", "--data", run, "--json"],
      ["play", "greedy", "random", "--game", "chess", "--option", "max_plies=8", "--seed", "golden"],
      ["play", "cycle", "counter", "--game", "rps", "--option", "best_of=3", "--seed", "golden", "--json"],
      [
        "match",
        "counter",
        "cycle",
        "--game",
        "rps",
        "--games",
        "20",
        "--seed",
        "golden",
        "--data",
        join(folder, "match-1"),
      ],
      [
        "match",
        "markov",
        "iocaine",
        "counter",
        "--game",
        "rps",
        "--games",
        "10",
        "--seed",
        "golden",
        "--json",
        "--data",
        join(folder, "match-2"),
      ],
      [
        "match",
        "minimax",
        "random",
        "--game",
        "tic_tac_toe",
        "--sprt",
        "elo0=0,elo1=200",
        "--seed",
        "golden",
        "--json",
        "--data",
        join(folder, "match-3"),
      ],
      ["check-game", "scripts/starters/game/game.ts", "--json"],
    ];
    const texts: string[] = [];
    for (const args of commands) texts.push(await printedBy(args, places));
    return texts.join("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
