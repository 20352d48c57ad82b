import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { playerId } from "#shared/lib/ids.ts";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { startTestManager, type TestManager, type Wire, won } from "./testing/test-manager.ts";

let manager: TestManager;
/** The open database of the manager. */
let db: Database;
/** The lines on its terminal. */
let warnings: string[];

const LEAGUES = ["rps", "later"].map((league_id) => ({ league_id, game: "rps.v1" }));

beforeEach(async () => {
  const disk = systemDisk(systemClock);
  const lines: string[] = [];
  manager = await startTestManager(LEAGUES, {}, () => {}, {
    warn: (line) => void lines.push(line),
    disk: {
      ...disk,
      openStore(...options) {
        const store = disk.openStore(...options);
        db = store.db;
        return store;
      },
    },
  });
  warnings = lines;
});
afterEach(() => manager?.stop());

const FULL = "the data cannot be written: the disk is full; try again later";
const READ_ONLY = "the data cannot be written: it is read-only; try again later";
const REJECTED = { status: "REJECTED", reason: READ_ONLY, error_code: "L001", retryable: true };
const REJECTION = { error_code: "L001", message: READ_ONLY, retryable: true };

const registerPlayer = (name: string): Promise<Wire> =>
  manager.tool("register_player", { player_name: name, endpoint: manager.endpointOf(name) });

/** Registers a player of another dialect. */
async function registerForeign(name: string): Promise<Wire> {
  const player_meta = { display_name: name, game_types: ["rps"], contact_endpoint: manager.endpointOf(name) };
  const request = rpcRequest("register_player", { message_type: "LEAGUE_REGISTER_REQUEST", player_meta });
  return (await manager.post(JSON.stringify(request))).body.result;
}

/** Makes the database unwritable for SQLite, which reports a read-only file, until the returned function is called. */
function makeReadOnly(): () => void {
  db.exec("PRAGMA query_only = ON");
  return () => db.exec("PRAGMA query_only = OFF");
}

describe("while the data of a manager cannot be written", () => {
  it("a registration is rejected because the disk is full, nothing of it is recorded, and it is accepted when there is space", async () => {
    const [accepted, rejected]: [Wire[], Wire[]] = [[], []];
    const { page_count } = db.prepare("PRAGMA page_count").get() as { page_count: number };
    db.exec(`PRAGMA max_page_count = ${page_count}`);
    // The last page has space for some registrations.
    while (rejected.length === 0 && accepted.length < 100) {
      const answer = await registerPlayer(`Player ${accepted.length}`);
      (answer.status === "ACCEPTED" ? accepted : rejected).push(answer);
    }
    expect(rejected).toMatchObject([{ ...REJECTED, isError: false, reason: FULL, player_id: null }]);
    expect(await registerPlayer(`Player ${accepted.length}`)).toMatchObject({ ...REJECTED, reason: FULL });
    expect(Object.keys(manager.storedEndpoints())).toHaveLength(accepted.length);
    db.exec("PRAGMA max_page_count = 1000000");
    const last = await registerPlayer(`Player ${accepted.length}`);
    expect(last).toMatchObject({ status: "ACCEPTED", player_id: playerId(accepted.length + 1) });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^cannot write to .*league-manager\.sqlite: the disk is full; registrations and results wait/,
      ),
      expect.stringMatching(/league-manager\.sqlite can be written again$/),
    ]);
  });

  it("registrations of referees and of players of other dialects are rejected with the cause", async () => {
    const makeWritable = makeReadOnly();
    const referee = { referee_name: "REF01", endpoint: manager.endpointOf("REF01") };
    expect(await manager.tool("register_referee", referee)).toMatchObject(REJECTED);
    expect(await registerForeign("Ann")).toMatchObject(REJECTED);
    makeWritable();
    expect(await manager.tool("register_referee", referee)).toMatchObject({ status: "ACCEPTED", referee_id: "REF01" });
    expect(await registerForeign("Ann")).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
  });

  it("commands of the operator are rejected with the cause, and a result is reported again until it is recorded", async () => {
    await manager.register("P01", "P02", "REF01");
    const makeOpenWritable = makeReadOnly();
    const start = () => manager.tool("start_league", { league_id: "rps" }, manager.operator);
    expect(await start()).toMatchObject({ isError: true, ...REJECTION });
    makeOpenWritable();
    expect(await start()).toMatchObject({ status: "STARTED" });
    await manager.assigned("rps", "R1M1");
    const makeWritable = makeReadOnly();
    const schedule = { player1_id: "P01", player2_id: "P02", round_id: 2, league_id: "rps" };
    const operator = (name: string, args: object) => manager.tool(name, args, manager.operator);
    expect(await operator("schedule_match", schedule)).toMatchObject({ isError: true, ...REJECTION });
    expect(await operator("remove_player", { player_id: "P02" })).toMatchObject({ isError: true, ...REJECTION });
    expect(await operator("pause_league", { league_id: "rps" })).toMatchObject({ isError: true, ...REJECTION });
    const report = () => manager.message("MATCH_RESULT", "referee:REF01", won(), manager.tokens.REF01);
    expect(await report()).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: REJECTION });
    makeWritable();
    expect(await report()).toMatchObject({ type: "MATCH_RESULT_RESPONSE", payload: { status: "RECORDED" } });
    expect((await manager.schedule("rps"))[0]).toMatchObject({ winner: "P01" });
  });
});
