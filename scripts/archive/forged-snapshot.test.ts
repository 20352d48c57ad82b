import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { localWriter } from "#shared/store/writer.ts";
import { leagueStream, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { foldLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { leagueSnapshot, restoreLeague } from "../../league-manager/league/snapshot.ts";
import { managerStore } from "../../league-manager/store/manager-store.ts";
import { exportOf } from "./export-store.ts";
import { writeExport } from "./format.ts";
import { testExports } from "./testing/exports.ts";
import { plainRun } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

/** Writes a snapshot into a store. In the snapshot the results of P01 and P02 are swapped. */
async function forgeSnapshot(storeFile: string): Promise<void> {
  const db = new DatabaseSync(storeFile);
  const stream = leagueStream("rps");
  const store = managerStore(db, localWriter(db, systemClock));
  const events = await store.readEvents(stream);
  const league = foldLeague(events.map(({ body }) => parseLeagueEvent(body))) as League;
  const swappedIds = { P01: "P02", P02: "P01" } as const;
  const { rounds, ...snapshot } = leagueSnapshot(league);
  const head = snapshot.head.replace(/P0[12]/g, (id) => swappedIds[id as "P01"]);
  const restored = restoreLeague({ head, rounds });
  expect(restored).toMatchObject({ version: events.length });
  expect(restored).not.toEqual(league);
  db.exec("DELETE FROM snapshots");
  await store.writeSnapshot(stream, events.length, { head, rounds });
  db.close();
}

it("exportOf reads the logs and ignores a forged snapshot in the store", async () => {
  const storeFile = await plainRun(exports.newFolder());
  const { files } = await exportOf(storeFile);
  await forgeSnapshot(storeFile);
  const folder = join(exports.newFolder(), "export");
  const afterForgery = await exportOf(storeFile);
  expect(afterForgery.files).toEqual(files);
  writeExport(folder, afterForgery.files);
  expect(verifyExport(folder)).toMatchObject({ verdict: "verified", faults: [] });
});
