/** Configs of leagues for the end-to-end tests, and runs of these leagues. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import type { ResultsDocument } from "../../league-manager/projections/results-document.ts";
import { type Ended, newFolder, type Running, start } from "./processes.ts";

export interface TestLeague {
  /** A new folder that contains the config and a folder `data`. */
  readonly folder: string;
  /** The path of the config. */
  readonly file: string;
  /** The manager's port. */
  readonly port: number;
  /** Returns the port `offset` ports after the manager's. Referees have the offsets from 1, players those from 10. Throws if the test has not reserved the port. */
  portAt(offset: number): number;
}

/** The leagues of config/league.json. */
export const ALL_LEAGUES = [
  { league_id: "even-odd", game: "even_odd.v1" },
  { league_id: "rps", game: "rps.v1", options: { best_of: 3 } },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 60 } },
];
/** The number of ports that a test reserves for the processes of its league. */
const PORTS = 20;

export const FOUR_BOTS = ["random", "greedy", "counter", "cycle"];

interface TestLeagueOptions {
  readonly referees?: number;
  readonly files?: Readonly<Record<string, string>>;
  readonly config?: object;
  /** What the bots of files may use. */
  readonly allow?: object;
}

/** Writes a config with free ports. The players of the `bots` have the names Player1, Player2 and so on. */
export async function testLeague(
  bots: readonly string[],
  leagues: readonly object[],
  more: TestLeagueOptions = {},
): Promise<TestLeague> {
  const folder = newFolder();
  const [port = 0] = await freePorts(PORTS);
  const config = {
    manager: { port },
    referees: { count: more.referees ?? 1, firstPort: port + 1 },
    data: "data",
    players: bots.map((bot, index) => ({ name: `Player${index + 1}`, bot, ...(more.allow && { allow: more.allow }) })),
    playersFirstPort: port + 10,
    leagues,
    ...more.config,
  };
  for (const [name, text] of Object.entries(more.files ?? {})) writeFileSync(join(folder, name), text);
  const file = join(folder, "league.json");
  writeFileSync(file, `// the config of a test\n${JSON.stringify(config, null, 2)}\n`);
  mkdirSync(join(folder, "data"));
  const portAt = (offset: number): number => {
    if (offset >= PORTS) throw new Error(`a test of a league has ${PORTS} ports`);
    return port + offset;
  };
  return { folder, file, port, portAt };
}

/** Returns the folders of the runs in a test's data folder. */
export function runFolders({ folder }: Pick<TestLeague, "folder">): readonly string[] {
  const runs = join(folder, "data", "runs");
  return existsSync(runs) ? readdirSync(runs).map((name) => join(runs, name)) : [];
}

/** Parses stdout of a command with `--json`. Throws if stdout is not exactly one JSON document. */
export const documentOf = ({ stdout }: Ended): ResultsDocument => JSON.parse(stdout) as ResultsDocument;

/** A short league. */
export const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }];
/** Leagues that are long enough for a test to interrupt their run. */
export const LONG = [
  { league_id: "long", game: "rps.v1", options: { best_of: 99 } },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 100 } },
];
/** A seed for any run: also one that programs may enter which the command does not start. */
const SEED = sha256Hex("7");
/** Starts `league run` with a test's config and a fixed seed. */
export const run = (test: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["run", test.file, "--seed", SEED, ...flags]);
/** Matches the line with the first result of a league. */
export const FIRST_RESULT = /^\S+ R1M\d+ \(.*\[1\/\d+\]$/;
