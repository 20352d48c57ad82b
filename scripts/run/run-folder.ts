import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { newRunSuffix, systemIds } from "#shared/lib/ids.ts";
import { admitsOthers, assertSeed, Config, newSeed } from "#shared/runtime/config/config.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readJson, writeJsonAtomically } from "./json-file.ts";

/** The folder of a run below `data/runs`, with its config, its seed and the stores of its agents. */
export interface RunFolder {
  readonly path: string;
  readonly configFile: string;
  readonly config: Config;
  readonly seed: string;
  /** Whether the run is resumed. */
  readonly isResumed: boolean;
  /** Marks the run as completed or failed. `--resume` skips such runs. */
  finish(status: "completed" | "failed"): void;
  /** Whether `--resume` can continue the run. */
  isUnfinished(): boolean;
}

const RunRecord = z.object({
  seed: z.string(),
  started_at: z.string(),
  status: z.enum(["running", "completed", "failed"]),
});
type RunRecord = z.infer<typeof RunRecord>;

const runsOf = (data: string): string => join(data, "runs");

/** Creates the folder of a new run, with its config. Throws StartError if the seed is too short for the players of the config. */
export function beginRun(config: Config, seed: string | null, clock: Clock): RunFolder {
  assertSeed(seed, admitsOthers(config, "roster"), systemIds);
  const startedAt = clock.iso();
  const stamp = startedAt.slice(0, 19).replaceAll(":", "-");
  const path = join(runsOf(config.data), `${stamp}-${newRunSuffix()}`);
  // Logs contain hidden information of the players, so other users of the machine must not read them.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const record: RunRecord = { seed: seed ?? newSeed(systemIds), started_at: startedAt, status: "running" };
  writeJsonAtomically(join(path, "config.json"), config);
  return folderOf(path, config, record, false);
}

/** Whether a run is marked as failed. False if its record cannot be read. */
export const hasFailed = (path: string): boolean =>
  RunRecord.safeParse(readJson(join(path, "run.json"))).data?.status === "failed";

/**
 * Returns the newest run that is not completed or failed and that `isWanted` accepts. Skips runs that cannot be read, with a warning. Throws StartError if
 * there is no such run.
 */
export async function resumeRun(
  data: string,
  warn: (line: string) => void,
  isWanted: (path: string) => boolean = () => true,
): Promise<RunFolder> {
  const names = existsSync(runsOf(data)) ? readdirSync(runsOf(data)).sort().reverse() : [];
  for (const name of names) {
    const path = join(runsOf(data), name);
    if (!existsSync(join(path, "run.json")) || !isWanted(path)) continue;
    const record = RunRecord.safeParse(readJson(join(path, "run.json"))).data;
    if (record && record.status !== "running") continue;
    const config = await readRunConfig(join(path, "config.json"));
    if (record && config) return folderOf(path, config, record, true);
    warn(`${path} is skipped: its run.json or config.json cannot be read`);
  }
  throw new StartError(`no unfinished run in ${runsOf(data)}`, EXIT.failed);
}

/** Reads the config of a run and registers its games. Throws StartError if the file of a game does not load. */
async function readRunConfig(file: string): Promise<Config | undefined> {
  const stored = readJson(file);
  const { games = [] } = z.object({ games: Config.shape.games }).safeParse(stored).data ?? {};
  await loadGames(games);
  return Config.safeParse(stored).data;
}

function folderOf(path: string, config: Config, record: RunRecord, isResumed: boolean): RunFolder {
  let isUnfinished = true;
  const write = (status: RunRecord["status"]): void => {
    isUnfinished = status === "running";
    writeJsonAtomically(join(path, "run.json"), { ...record, status });
  };
  write("running");
  const fields = { path, config, seed: record.seed, isResumed, configFile: join(path, "config.json") };
  return { ...fields, finish: write, isUnfinished: () => isUnfinished };
}
