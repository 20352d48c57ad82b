import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { openPostgres } from "#shared/store/postgres/connection.ts";
import { AT } from "../../league-manager/league/testing/leagues.ts";
import { readPostgresRun } from "../../league-manager/postgres/run-store.ts";
import { openRun } from "../../league-manager/postgres/testing/postgres-runs.ts";
import { exportOf, exportOfDatabase } from "./export-store.ts";
import { writeExport } from "./format.ts";
import { matchesIn, matchesInDatabase } from "./ratings.ts";
import { withLeagues, withLeaguesOfDatabase } from "./reports/report-run.ts";
import { writeReports } from "./reports/write-reports.ts";
import { copiedToDatabase } from "./testing/database.ts";
import { testExports } from "./testing/exports.ts";
import { annulledRun, eventfulRun, plainRun } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

it.each([
  ["two leagues", plainRun],
  ["aborts, an added match and a removed player", eventfulRun],
  ["an annulled match", annulledRun],
])("the export of a database with %s has the same bytes as that of a file, and is sound", async (_, fill) => {
  const file = await fill(exports.newFolder());
  const url = await copiedToDatabase(file);
  const exported = await exportOfDatabase(url);
  const { files, matches, unplayed, notStarted } = await exportOf(file);
  expect(exported).toEqual({ ...exported, files, matches, unplayed, notStarted });
  const folder = join(exports.newFolder(), "export");
  writeExport(folder, exported.files, () => null);
  expect(verifyExport(folder).faults).toEqual([]);
});

it("a database gives the same reports as a file", async () => {
  const file = await plainRun(exports.newFolder());
  const url = await copiedToDatabase(file);
  const [ofFile, ofDatabase] = [exports.newFolder(), exports.newFolder()];
  await withLeagues(dirname(file), (leagues) => writeReports(ofFile, ["csv", "jsonl"], leagues));
  await withLeaguesOfDatabase(url, (leagues) => writeReports(ofDatabase, ["csv", "jsonl"], leagues));
  const files = readdirSync(ofFile);
  expect(readdirSync(ofDatabase)).toEqual(files);
  for (const name of files) expect(readFileSync(join(ofDatabase, name))).toEqual(readFileSync(join(ofFile, name)));
});

it("a database gives the same matches to rate as a file", async () => {
  const file = await plainRun(exports.newFolder());
  const ofFile = await matchesIn(dirname(file), () => {});
  expect(ofFile).toHaveLength(6);
  expect(await matchesInDatabase(await copiedToDatabase(file))).toEqual(ofFile);
});

it("a database is read at one moment, while managers commit", async () => {
  const url = await copiedToDatabase(await plainRun(exports.newFolder()));
  const manager = await openRun(url);
  const { pool, close } = openPostgres<unknown>(url, { applicationName: "test" });
  const append = { stream: "agent:P99", expectedVersion: 0, events: [{ type: "noted", body: "{}" }] };
  const commit = { id: systemIds.uuid(), at: AT, appends: [append], writes: [], jobs: { added: [], ended: [] } };
  const streams = await readPostgresRun(pool, async (data) => {
    const before = await data.streams();
    await manager.transact(0, () => commit);
    expect(await data.streams()).toEqual(before);
    expect((await data.loadProfiles()).size).toBeGreaterThan(0);
    expect(await data.readEvents("agent:P99")).toEqual([]);
    return before;
  });
  expect(await manager.streams()).toEqual([...streams, "agent:P99"]);
  await close();
  await manager.close();
});

it("a database without tables, and one that does not answer, are faults of one line without the password", async () => {
  const url = new URL(await copiedToDatabase(await plainRun(exports.newFolder())));
  const { password } = url;
  expect(password).not.toBe("");
  const faultAt = async (changes: Partial<URL>): Promise<string> => {
    const changed = Object.assign(new URL(url), changes);
    const fault = await exportOfDatabase(changed.href).catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(StartError);
    const { message } = fault as Error;
    expect(message).not.toContain(password);
    expect(message).not.toContain("\n");
    return message;
  };
  expect(await faultAt({ pathname: "/postgres" })).toContain('run "league db migrate"');
  expect(await faultAt({ pathname: "/unknown_database" })).toContain("unknown_database");
  expect(await faultAt({ port: "1" })).toContain("no PostgreSQL server listens at 127.0.0.1:1");
});
