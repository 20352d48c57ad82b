import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startLeague } from "../../league-manager/commands/league-commands.ts";
import { player, referee } from "../../league-manager/commands/testing/commands.ts";
import { leagueSeed } from "../../league-manager/league/league.ts";
import { type Export, exportOf } from "./export-store.ts";
import { writeExport } from "./format.ts";
import { testExports } from "./testing/exports.ts";
import { RUN_SEED, saltOf, writeStore } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const MOMENTS = ["before a player enters", "before a match is recorded"] as const;
type Moment = (typeof MOMENTS)[number];

/** The file of the store of a completed league. */
let completedStore: string;
/** Copies of the store that were made before the league was completed. */
const copies = new Map<Moment, string>();

beforeAll(async () => {
  completedStore = await writeStore(exports.newFolder(), ["rps"], async (run) => {
    const register = (name: string, port: number) => run.execute(player(name, { port, salt: saltOf(name) }));
    await run.execute(referee("referee", { port: 9000 }));
    await register("Ann", 9001);
    await register("Bob", 9002);
    copyStore("before a player enters", run.file);
    await register("Cid", 9003);
    await run.execute(startLeague("rps", leagueSeed(RUN_SEED, "rps")));
    await run.round("rps");
    copyStore("before a match is recorded", run.file);
    await run.round("rps");
    await run.round("rps");
    await run.complete("rps");
  });
});

function copyStore(moment: Moment, storeFile: string): void {
  const file = join(exports.newFolder(), "copy.sqlite");
  const db = new DatabaseSync(storeFile);
  db.prepare("VACUUM INTO ?").run(file);
  db.close();
  copies.set(moment, file);
}

/** Copies the rows that a store lacks from the store of the completed league, in one transaction on a second connection. */
function commitMissing(storeFile: string): void {
  const db = new DatabaseSync(storeFile);
  db.prepare("ATTACH ? AS later").run(completedStore);
  db.exec("BEGIN");
  for (const table of ["streams", "log", "profiles", "tokens", "session_logs"])
    db.exec(`INSERT INTO main.${table} SELECT * FROM later.${table} EXCEPT SELECT * FROM main.${table}`);
  db.exec("COMMIT");
  db.close();
}

afterEach(() => vi.restoreAllMocks());

/**
 * Exports a copy of the store, and commits the missing rows after the read with the index `commitAfter`; never if it is null. Also returns the
 * number of reads.
 */
async function exportWithCommit(
  moment: Moment,
  commitAfter: number | null,
): Promise<Export & { readonly reads: number }> {
  const file = join(exports.newFolder(), "league-manager.sqlite");
  copyFileSync(copies.get(moment) as string, file);
  const { all } = StatementSync.prototype;
  let reads = 0;
  vi.spyOn(StatementSync.prototype, "all").mockImplementation(function (this: StatementSync, ...parameters) {
    const rows = all.apply(this, parameters);
    if (reads++ === commitAfter) commitMissing(file);
    return rows;
  });
  const exported = await exportOf(file);
  vi.restoreAllMocks();
  return { ...exported, reads };
}

describe("exportOf of a running manager's store", () => {
  it.each(MOMENTS)("returns one consistent moment if the manager commits between two reads: %s", async (moment) => {
    const { files, reads } = await exportWithCommit(moment, null);
    expect(reads).toBeGreaterThan(5);
    for (let read = 0; read < reads; read++)
      expect((await exportWithCommit(moment, read)).files, `commit after read ${read}`).toEqual(files);
    const folder = join(exports.newFolder(), "export");
    writeExport(folder, files);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", faults: [] });
  });
});
