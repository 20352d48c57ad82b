import { existsSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import type { Level, Opponent } from "#shared/games/new-game-choices.ts";

/** A chess engine at one strength, as an opponent of people. */
export interface EngineOpponent extends Opponent {
  /** The text that selects it as the bot of a player process. */
  readonly spec: string;
}

interface Strength {
  readonly level: Level;
  readonly description: string;
  readonly limits: { readonly nodes?: number; readonly depth?: number; readonly movetime_ms?: number };
  readonly options?: Readonly<Record<string, string | number | boolean>>;
}

/** The engines that are found in the PATH, with their strengths. */
const KNOWN: readonly {
  readonly program: string;
  readonly args: readonly string[];
  readonly strengths: readonly Strength[];
}[] = [
  {
    program: "stockfish",
    args: [],
    strengths: [
      {
        level: "easy",
        description: "Stockfish with many mistakes",
        limits: { nodes: 500 },
        options: { "Skill Level": 0, Hash: 16 },
      },
      {
        level: "hard",
        description: "Stockfish with few mistakes",
        limits: { nodes: 20_000 },
        options: { "Skill Level": 8, Hash: 16 },
      },
      {
        level: "very hard",
        description: "Stockfish at full strength, a second for each move",
        limits: { movetime_ms: 1_000 },
        options: { Hash: 64 },
      },
    ],
  },
  {
    program: "gnuchess",
    args: ["--uci"],
    strengths: [
      {
        level: "medium",
        description: "GNU Chess, two half-moves ahead",
        limits: { depth: 2 },
        options: { OwnBook: false },
      },
      {
        level: "hard",
        description: "GNU Chess, six half-moves ahead",
        limits: { depth: 6 },
        options: { OwnBook: false },
      },
    ],
  },
];

/** The strengths of an engine that this list does not know. Each engine understands these limits. */
const GENERIC: readonly Strength[] = [
  { level: "medium", description: "one half-move ahead", limits: { depth: 1 } },
  { level: "hard", description: "five half-moves ahead", limits: { depth: 5 } },
  { level: "very hard", description: "a second for each move", limits: { movetime_ms: 1_000 } },
];

/** The folder of the engines of Debian, which is missing in the PATH of some users. */
const DEBIAN_GAMES = "/usr/games";

/** Returns the engines of the folders of `path` and `others`, and of the given commands, as opponents in chess, the weakest of each first. */
export function engineOpponents(
  path: string,
  commands: readonly string[],
  others: readonly string[] = [DEBIAN_GAMES],
): readonly EngineOpponent[] {
  const folders = [...path.split(delimiter), ...others].filter((folder) => folder !== "");
  const found = KNOWN.filter(({ program }) => folders.some((folder) => existsSync(join(folder, program)))).flatMap(
    ({ program, args, strengths }) => strengths.map((strength) => opponentOf(program, [program, ...args], strength)),
  );
  const given = commands.flatMap((command) => {
    const name = nameOf(command);
    return GENERIC.map((strength) =>
      opponentOf(name, command, { ...strength, description: `${name}, ${strength.description}` }),
    );
  });
  return [...found, ...given];
}

const programOf = (command: string): string => command.trim().split(/\s+/, 1)[0] ?? "";

/** Characters of a command whose meaning only the shell knows that runs it. */
const SHELL = /["'`$~=\\;&|<>(){}*?]/;

/** Returns why a command cannot start an engine: its program is not there. Null if it is, or if only the shell can tell. `path` is the PATH. */
export function engineFault(command: string, path: string, others: readonly string[] = [DEBIAN_GAMES]): string | null {
  const program = programOf(command);
  if (SHELL.test(program)) return null;
  if (program.includes("/")) return existsSync(program) ? null : `${program}: no such file`;
  const isFound = [...path.split(delimiter), ...others].some((folder) => existsSync(join(folder, program)));
  return program !== "" && isFound ? null : `no program "${program}" in the PATH`;
}

/** Returns the name of the program of a command, in the form of the names of bots. */
const nameOf = (command: string): string =>
  basename(programOf(command))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-") || "engine";

function opponentOf(name: string, command: string | readonly string[], strength: Strength): EngineOpponent {
  const { level, description, limits, options = {} } = strength;
  const settings = { command, folder: process.cwd(), ...limits, options };
  return { bot: `${name}-${level.replaceAll(" ", "-")}`, level, description, spec: `uci:${JSON.stringify(settings)}` };
}
