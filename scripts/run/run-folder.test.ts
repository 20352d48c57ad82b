import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { findStore } from "../archive/stored-run.ts";
import { cleanUp, newFolder } from "../testing/processes.ts";
import { beginRun, type RunFolder, resumeRun } from "./run-folder.ts";

afterEach(cleanUp);

/** Begins a run in a new data folder. Its state is that of a run whose command was killed. */
const newRun = (): { data: string; run: RunFolder } => {
  const data = join(newFolder(), "data");
  return {
    data,
    run: beginRun(Config.parse({ data, leagues: [{ league_id: "rps", game: "rps.v1" }] }), "7", systemClock),
  };
};
/** Writes the folder of a run that is newer than all others, with an unreadable file and an empty store. Returns the folder. */
const writeDamagedRun = (data: string, name: string, text: string): string => {
  const path = join(data, "runs", "9999-later");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "run.json"), '{ "seed": "1", "started_at": "", "status": "running" }');
  writeFileSync(join(path, "config.json"), "{}");
  writeFileSync(join(path, name), text);
  writeFileSync(join(path, "league-manager.sqlite"), "");
  return path;
};

it.each([
  ["run.json", ""],
  ["run.json", '{ "seed": "1", "sta'],
  ["run.json", "null"],
  ["config.json", '{ "leag'],
  ["config.json", '{ "leagues": [] }'],
])("resumeRun skips a run whose %s cannot be read, with a warning: %j", async (name, text) => {
  const { data, run } = newRun();
  const path = writeDamagedRun(data, name, text);
  const warnings: string[] = [];
  expect(await resumeRun(data, (line) => warnings.push(line))).toMatchObject({
    path: run.path,
    seed: "7",
    isResumed: true,
  });
  expect(warnings).toEqual([`${path} is skipped: its run.json or config.json cannot be read`]);
});

it.each(["", '{ "seed": "1", "sta', "null"])(
  "findStore finds the store of a run whose run.json cannot be read: %j",
  (text) => {
    const { data } = newRun();
    const path = writeDamagedRun(data, "run.json", text);
    expect(findStore(data)).toBe(join(path, "league-manager.sqlite"));
  },
);

it("a run leaves no temporary files in its folder", () => {
  const { run } = newRun();
  run.finish("completed");
  expect(readdirSync(run.path).sort()).toEqual(["config.json", "run.json"]);
});

it("draws a seed that a run may have which programs enter that the command does not start", () => {
  const players = [{ name: "Guest", self: true }];
  const config = Config.parse({ data: newFolder(), players, leagues: [{ league_id: "rps", game: "rps.v1" }] });
  expect(beginRun(config, null, systemClock).seed).toMatch(/^[\da-f]{64}$/);
  expect(() => beginRun(config, "7", systemClock)).toThrow(/^--seed 7: programs /);
});
