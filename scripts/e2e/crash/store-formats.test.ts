import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { writeSyntheticRun } from "../../bench/synthetic-run.ts";
import { cleanUp, league, newFolder, start } from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** Resets the format number of a database, as in a database of format 1. */
function toFormat1(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE);");
  db.close();
}

const DEFAULT_ADVICE = "use the version that wrote it, or choose a new data folder";
const formatError = (file: string, advice = DEFAULT_ADVICE): string =>
  `${file} was written by format 1 of this program; this version writes format 2: ${advice}\n`;

it("a manager database of an earlier format ends the manager and export with one line that names both formats", async () => {
  const folder = newFolder();
  await writeSyntheticRun(folder, 2);
  const file = join(folder, "league-manager.sqlite");
  toFormat1(file);
  const bytes = readFileSync(file);
  const config = ["--config", join(folder, "config.json"), "--data", folder, "--port", String(await freePort())];
  const manager = await start("league-manager/main.ts", config).ended;
  expect([manager.code, manager.stderr]).toEqual([1, `league-manager: ${formatError(file)}`]);
  const exported = await league(["export", folder, "--out", join(folder, "out")]);
  expect([exported.code, exported.stdout, exported.stderr]).toEqual([
    1,
    "",
    formatError(file, "export it with the version that wrote it; this version can verify that export"),
  ]);
  expect(readFileSync(file)).toEqual(bytes);
});

it("league run --resume ends with one line that names both formats if the run has an earlier format", async () => {
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
  expect([code, stdout, stderr]).toEqual([1, "", formatError(file)]);
});

it("a referee database of an earlier format ends the referee with one line that names both formats", async () => {
  const folder = newFolder();
  const host = await startTestHost({ dataFolder: folder });
  await host.stop();
  const file = join(folder, `referee-${host.port}.sqlite`);
  toFormat1(file);
  const { code, stderr } = await start("referee/main.ts", ["--alone", "--port", String(host.port), "--data", folder])
    .ended;
  expect([code, stderr]).toEqual([1, `host-${host.port}: ${formatError(file)}`]);
});
