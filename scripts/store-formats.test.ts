import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it, vi } from "vitest";
import { freePort } from "#shared/runtime/free-ports.ts";
import { startTestHost } from "../referee/rest/testing-host.ts";
import { writeSyntheticRun } from "./bench-run.ts";
import { cleanUp, league, newFolder, start } from "./testing.ts";

/** Each test starts processes, also on slow machines. */
vi.setConfig({ testTimeout: 60_000 });
afterEach(cleanUp);

/** Removes the number of the format from a database, as in one that was written by format 1. */
function toFormat1(file: string): void {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE);");
  db.close();
}

const refusal = (file: string): string =>
  `${file} was written by format 1 of this program; this version writes format 2: go on with the version that wrote it, or choose a new data folder\n`;

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
  expect([exported.code, exported.stdout, exported.stderr]).toEqual([1, "", refusal(file)]);
  expect(readFileSync(file)).toEqual(bytes);
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
