import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it, vi } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { writeSyntheticRun } from "../../bench/run.ts";
import { cleanUp, league, newFolder, start } from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

/** Each test starts processes, also on slow machines. */
vi.setConfig({ testTimeout: 60_000 });
afterEach(cleanUp);

/** Removes the number of the format from a database, as in one that was written by format 1. */
function toFormat1(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE);");
  db.close();
}

const OTHER_ADVICE = "use the version that wrote it, or choose a new data folder";
const refusal = (file: string, advice = OTHER_ADVICE): string =>
  `${file} was written by format 1 of this program; this version writes format 2: ${advice}\n`;

it("the database of a manager of an earlier format ends manager and export with one line that names both formats", async () => {
  const folder = newFolder();
  await writeSyntheticRun(folder, 2);
  const file = join(folder, "league-manager.sqlite");
  toFormat1(file);
  const bytes = readFileSync(file);
  const config = ["--config", join(folder, "config.json"), "--data", folder, "--port", String(await freePort())];
  const manager = await start("league-manager/main.ts", config).ended;
  expect([manager.code, manager.stderr]).toEqual([1, `league-manager: ${refusal(file)}`]);
  const exported = await league(["export", folder, "--out", join(folder, "out")]);
  expect([exported.code, exported.stdout, exported.stderr]).toEqual([
    1,
    "",
    refusal(file, "export it with the version that wrote it; this version can verify that export"),
  ]);
  expect(readFileSync(file)).toEqual(bytes);
});

it("a run of an earlier format is not resumed: one line names both formats, and the same command is not recommended", async () => {
  const test = await testLeague(["cycle", "cycle"], [{ league_id: "rps", game: "rps.v1" }]);
  const first = await league(["run", test.file, "--seed", "7"]);
  expect(first.code, first.stderr).toBe(0);
  const [run = ""] = readdirSync(join(test.folder, "data", "runs"));
  const folder = join(test.folder, "data", "runs", run);
  const record = join(folder, "run.json");
  writeFileSync(record, readFileSync(record, "utf8").replace('"completed"', '"running"'));
  const file = join(folder, "league-manager.sqlite");
  toFormat1(file);
  const { code, stdout, stderr } = await league(["run", test.file, "--resume"]);
  expect([code, stdout, stderr]).toEqual([1, "", refusal(file)]);
});

it("the database of a referee of an earlier format ends the referee with one line that names both formats", async () => {
  const folder = newFolder();
  const host = await startTestHost({ dataFolder: folder });
  await host.stop();
  const file = join(folder, `referee-${host.port}.sqlite`);
  toFormat1(file);
  const { code, stderr } = await start("referee/main.ts", ["--alone", "--port", String(host.port), "--data", folder])
    .ended;
  expect([code, stderr]).toEqual([1, `host-${host.port}: ${refusal(file)}`]);
});
