import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { findStore } from "../archive/export/find-store.ts";
import { cleanUp, newFolder } from "../testing/processes.ts";
import { beginRun, type RunFolder, resumeRun } from "./run-folder.ts";

afterEach(cleanUp);

/** A run as the command leaves it when it is killed. */
const begun = (): { data: string; run: RunFolder } => {
  const data = join(newFolder(), "data");
  return {
    data,
    run: beginRun(Config.parse({ data, leagues: [{ league_id: "rps", game: "rps.v1" }] }), "7", systemClock),
  };
};
/** A run that sorts after all others, with such a file in it; the manager's store too. */
const torn = (data: string, name: string, text: string): string => {
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
])("a run whose %s cannot be read is passed by with a word: %j", (name, text) => {
  const { data, run } = begun();
  const path = torn(data, name, text);
  const said: string[] = [];
  expect(resumeRun(data, (line) => said.push(line))).toMatchObject({ path: run.path, seed: "7", isResumed: true });
  expect(said).toEqual([`${path} is passed by: its run.json or config.json cannot be read`]);
});

it.each(["", '{ "seed": "1", "sta', "null"])(
  "what a run with a torn run.json has played can be exported: %j",
  (text) => {
    const { data } = begun();
    const path = torn(data, "run.json", text);
    expect(findStore(data)).toBe(join(path, "league-manager.sqlite"));
  },
);

it("a run's files are written whole: nothing else is left in its folder", () => {
  const { run } = begun();
  run.finish("completed");
  expect(readdirSync(run.path).sort()).toEqual(["config.json", "run.json"]);
});
