import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newToken } from "#shared/lib/ids.ts";
import { Config } from "#shared/runtime/config.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";

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

interface RunRecord {
  readonly seed: string;
  readonly started_at: string;
  readonly status: "running" | "completed" | "failed";
}

const runsOf = (data: string): string => join(data, "runs");

/** Begins a run: a new folder with the config in it. */
export function beginRun(config: Config, seed: string | null): RunFolder {
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const path = join(runsOf(config.data), `${stamp}-${randomBytes(3).toString("hex")}`);
  // Logs hold what players may not see of each other: they are not for the other users of the machine.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const record: RunRecord = { seed: seed ?? newToken(), started_at: new Date().toISOString(), status: "running" };
  writeFileSync(join(path, "config.json"), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return folderOf(path, config, record, false);
}

/** The newest run that has not finished; StartError when there is none. */
export function resumeRun(data: string): RunFolder {
  const names = existsSync(runsOf(data)) ? readdirSync(runsOf(data)).sort().reverse() : [];
  for (const name of names) {
    const path = join(runsOf(data), name);
    const file = join(path, "run.json");
    if (!existsSync(file)) continue;
    const record = JSON.parse(readFileSync(file, "utf8")) as RunRecord;
    if (record.status !== "running") continue;
    const config = Config.parse(JSON.parse(readFileSync(join(path, "config.json"), "utf8")));
    return folderOf(path, config, record, true);
  }
  throw new StartError(`no unfinished run in ${runsOf(data)}`, EXIT.failed);
}

function folderOf(path: string, config: Config, record: RunRecord, isResumed: boolean): RunFolder {
  let isUnfinished = true;
  const write = (status: RunRecord["status"]): void => {
    isUnfinished = status === "running";
    writeFileSync(join(path, "run.json"), `${JSON.stringify({ ...record, status }, null, 2)}\n`, { mode: 0o600 });
  };
  write("running");
  const told = { path, config, seed: record.seed, isResumed, configFile: join(path, "config.json") };
  return { ...told, finish: write, isUnfinished: () => isUnfinished };
}
