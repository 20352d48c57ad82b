import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openPostgres } from "#shared/store/postgres/connection.ts";
import { openRun } from "../../league-manager/postgres/testing/postgres-runs.ts";
import { loadSharedState, SharedLedger } from "../../league-manager/shared-run/shared-ledger.ts";
import { databaseName } from "../commands/open-database.ts";
import { forget } from "../commands/operator.ts";
import { exportOfDatabase } from "./export-store.ts";
import { RUN_FILE, writeExport } from "./format.ts";
import { listPersonalData } from "./personal-data.ts";
import { copiedToDatabase } from "./testing/database.ts";
import { writeStore } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

const NAME = "Žofie Nováková";

let folder: string;
let printed: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "personal-data-"));
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Creates a database with a league of P01, P02 and P03, of which P02 has the name. Resolves with its URL. */
const newDatabase = async (isCompleted: boolean): Promise<string> =>
  copiedToDatabase(
    await writeStore(join(folder, "original"), ["rps"], async (run) => {
      await run.start("Ann", NAME, "Cid");
      if (!isCompleted) return run.round("rps", () => null);
      for (const _ of [1, 2, 3]) await run.round("rps");
      await run.complete("rps");
    }),
  );

/** Returns the tables of a database that have the name. */
async function tablesWithName(url: string): Promise<readonly string[]> {
  const { pool, close } = openPostgres<unknown>(url, { applicationName: "test" });
  const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  const found: string[] = [];
  for (const { tablename } of rows) {
    const named = await pool.query(`SELECT 1 FROM "${tablename}" AS r WHERE position($1 IN r::text) > 0`, [NAME]);
    if (named.rows.length > 0) found.push(tablename);
  }
  await close();
  return found;
}

/** Opens the ledger of a manager that is running on a database. */
async function runningManager(url: string) {
  const database = await openRun(url);
  const [leagueIds, clock] = [["rps"], systemClock];
  const loaded = await loadSharedState(database, leagueIds);
  const ledger = new SharedLedger({ database, loaded, clock, ids: systemIds, leagueIds, onFatal() {} });
  return {
    ledger,
    async stop() {
      await ledger.stop();
      await database.close();
    },
  };
}

it("personal-data lists what a database has about a player, by its name and by its id", async () => {
  const database = await newDatabase(true);
  const name = await databaseName(database);
  expect(await tablesWithName(database)).toEqual(["profiles"]);
  await listPersonalData(NAME, { data: folder, database });
  expect(printed).toContain(`${NAME} in ${name}\n`);
  expect(printed).toMatch(/id +P02\n/);
  expect(printed).toContain(`(table profiles of ${name})`);
  expect(printed).toContain("http://127.0.0.1:9002/mcp");
  expect(printed).toMatch(/kept +the actions of 2 matches/);
  expect(printed).not.toContain(new URL(database).password);
  printed = "";
  await listPersonalData("P02", { data: folder, database, json: true });
  const [document] = JSON.parse(printed);
  expect(document).toMatchObject({ database: name, folder: null, profile: { display_name: NAME }, matches: 2 });
});

it.each(["P02", NAME])(
  "forget %s erases the name in the database and at its running managers, and the export is verified",
  async (player) => {
    const database = await newDatabase(true);
    const manager = await runningManager(database);
    expect(manager.ledger.state.agents.get("P02")?.name).toBe(NAME);
    const seen = new Promise<void>((resolve) => {
      manager.ledger.onCommit(({ state }) => state.agents.get("P02")?.name === "P02" && resolve());
    });
    await forget(player, { data: folder, database });
    await seen;
    expect(manager.ledger.state.agents.get("P02")).toMatchObject({ name: "P02", endpoint: "", tokenHash: "" });
    await manager.stop();
    expect(await tablesWithName(database)).toEqual([]);
    expect(printed).toContain(`P02 is erased in ${await databaseName(database)}: its name, address and token`);

    const exported = join(folder, "export");
    writeExport(exported, (await exportOfDatabase(database)).files);
    const { verdict, faults, exceptions } = verifyExport(exported);
    expect({ verdict, faults }).toEqual({ verdict: "verified except", faults: [] });
    expect(exceptions).toEqual([{ file: RUN_FILE, message: "the name of P02 in rps is erased" }]);
    await expect(forget(NAME, { data: folder, database })).rejects.toThrow(`no data of ${NAME} in the database `);
  },
);

it("forget also erases the name in the files of a folder that is named, and in no other", async () => {
  const database = await newDatabase(true);
  const logs = ["machine-1", "machine-2", "machine-3"].map((machine) => {
    const log = join(folder, machine, "logs", "referee.log");
    mkdirSync(join(log, ".."), { recursive: true });
    writeFileSync(log, `${NAME} has moved\n`);
    return log;
  });
  const named = (): readonly boolean[] => logs.map((log) => readFileSync(log, "utf8").includes(NAME));
  await forget(NAME, { data: join(folder, "machine-3"), database, files: join(folder, "machine-1") });
  expect(named()).toEqual([false, true, true]);
  // On another machine, after the profile is erased.
  await forget(NAME, { data: "data", database, files: join(folder, "machine-2") });
  expect(named()).toEqual([false, false, true]);
});

it("forget rejects a player whose round is under way, and changes nothing", async () => {
  const database = await newDatabase(false);
  await expect(forget(NAME, { data: folder, database })).rejects.toThrow("P02 has a match to play (rps/R1M1)");
  expect(await tablesWithName(database)).toEqual(["profiles"]);
});
