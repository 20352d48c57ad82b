import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startLeague } from "../../../league-manager/commands/leagues.ts";
import { player, referee } from "../../../league-manager/commands/testing/commands.ts";
import { writeExport } from "../files.ts";
import { testExports } from "../testing/exports.ts";
import { saltOf, writeStore } from "../testing/store.ts";
import { verifyExport } from "../verify/verify.ts";
import { type Export, exportOf } from "./export-store.ts";

const exports = testExports();
afterAll(() => exports.remove());

const MOMENTS = ["before a player enters", "before a match is recorded"] as const;
type Moment = (typeof MOMENTS)[number];

/** The store of a completed league, and copies of the store from earlier moments. */
let completed: string;
const copies = new Map<Moment, string>();

beforeAll(async () => {
  completed = await writeStore(exports.newFolder(), ["rps"], async (run) => {
    const enter = (name: string, port: number) => run.execute(player(name, { port, salt: saltOf(name) }));
    await run.execute(referee("referee", { port: 9000 }));
    await enter("Ann", 9001);
    await enter("Bob", 9002);
    copy("before a player enters", run.file);
    await enter("Cid", 9003);
    await run.execute(startLeague("rps"));
    await run.round("rps");
    copy("before a match is recorded", run.file);
    await run.round("rps");
    await run.round("rps");
    await run.complete("rps");
  });
});

function copy(moment: Moment, storeFile: string): void {
  const file = join(exports.newFolder(), "copy.sqlite");
  const db = new DatabaseSync(storeFile);
  db.prepare("VACUUM INTO ?").run(file);
  db.close();
  copies.set(moment, file);
}

/** Commits the missing rows of the completed league on a second connection. */
function commitMissing(storeFile: string): void {
  const db = new DatabaseSync(storeFile);
  db.prepare("ATTACH ? AS later").run(completed);
  db.exec("BEGIN");
  for (const table of ["streams", "log", "profiles", "tokens", "session_logs"])
    db.exec(`INSERT INTO main.${table} SELECT * FROM later.${table} EXCEPT SELECT * FROM main.${table}`);
  db.exec("COMMIT");
  db.close();
}

afterEach(() => vi.restoreAllMocks());

/** Exports a copy of the store. The missing rows are committed after this read of the export. Also returns the number of reads. */
async function exportedWith(moment: Moment, read: number | null): Promise<Export & { readonly reads: number }> {
  const file = join(exports.newFolder(), "league-manager.sqlite");
  copyFileSync(copies.get(moment) as string, file);
  const { all } = StatementSync.prototype;
  let reads = 0;
  vi.spyOn(StatementSync.prototype, "all").mockImplementation(function (this: StatementSync, ...parameters) {
    const rows = all.apply(this, parameters);
    if (reads++ === read) commitMissing(file);
    return rows;
  });
  const exported = await exportOf(file);
  vi.restoreAllMocks();
  return { ...exported, reads };
}

describe("the export of a league whose manager is running", () => {
  it.each(MOMENTS)("is of one moment although the manager commits between its reads: %s", async (moment) => {
    const { files, reads } = await exportedWith(moment, null);
    expect(reads).toBeGreaterThan(5);
    for (let read = 0; read < reads; read++)
      expect((await exportedWith(moment, read)).files, `commit after read ${read}`).toEqual(files);
    const folder = join(exports.newFolder(), "export");
    writeExport(folder, files);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", faults: [] });
  });
});
