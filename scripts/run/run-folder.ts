import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { newRunSuffix, systemIds } from "#shared/lib/ids.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { jsonIn, writeWhole } from "../codenames/atomic-file.ts";

/** One run's folder under `data/runs`: its config, its seed, its agents' stores. */
export interface RunFolder {
  readonly path: string;
  readonly configFile: string;
  readonly config: Config;
  readonly seed: string;
  /** Whether it was begun before. */
  readonly isResumed: boolean;
  /** Marks the run as finished, or as one that cannot go on: `--resume` passes both by. */
  finish(status: "completed" | "failed"): void;
  /** Whether `--resume` can go on with it. */
  isUnfinished(): boolean;
}

const RunRecord = z.object({
  seed: z.string(),
  started_at: z.string(),
  status: z.enum(["running", "completed", "failed"]),
});
type RunRecord = z.infer<typeof RunRecord>;

const runsOf = (data: string): string => join(data, "runs");

/** Begins a run: a new folder with the config in it. */
export function beginRun(config: Config, seed: string | null, clock: Clock): RunFolder {
  const startedAt = clock.iso();
  const stamp = startedAt.slice(0, 19).replaceAll(":", "-");
  const path = join(runsOf(config.data), `${stamp}-${newRunSuffix()}`);
  // Logs hold what players may not see of each other: they are not for the other users of the machine.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const record: RunRecord = { seed: seed ?? systemIds.token(), started_at: startedAt, status: "running" };
  writeWhole(join(path, "config.json"), config);
  return folderOf(path, config, record, false);
}

/** Whether a run is marked as one that never began; what cannot be read is no mark. */
export const hasFailed = (path: string): boolean =>
  RunRecord.safeParse(jsonIn(join(path, "run.json"))).data?.status === "failed";

/** The newest run that has not finished; StartError when there is none. One that cannot be read is passed by, which `warn` is told. */
export function resumeRun(data: string, warn: (line: string) => void): RunFolder {
  const names = existsSync(runsOf(data)) ? readdirSync(runsOf(data)).sort().reverse() : [];
  for (const name of names) {
    const path = join(runsOf(data), name);
    if (!existsSync(join(path, "run.json"))) continue;
    const record = RunRecord.safeParse(jsonIn(join(path, "run.json"))).data;
    if (record && record.status !== "running") continue;
    const config = Config.safeParse(jsonIn(join(path, "config.json"))).data;
    if (record && config) return folderOf(path, config, record, true);
    warn(`${path} is passed by: its run.json or config.json cannot be read`);
  }
  throw new StartError(`no unfinished run in ${runsOf(data)}`, EXIT.failed);
}

function folderOf(path: string, config: Config, record: RunRecord, isResumed: boolean): RunFolder {
  let isUnfinished = true;
  const write = (status: RunRecord["status"]): void => {
    isUnfinished = status === "running";
    writeWhole(join(path, "run.json"), { ...record, status });
  };
  write("running");
  const told = { path, config, seed: record.seed, isResumed, configFile: join(path, "config.json") };
  return { ...told, finish: write, isUnfinished: () => isUnfinished };
}
