import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter, noWriter } from "#shared/store/writer.ts";
import { AT } from "../league/testing/leagues.ts";
import type { Write } from "../ledger.ts";
import { type LedgerStore, MANAGER_SCHEMA, managerStore } from "./manager-store.ts";
import { profile } from "./testing/ledger.ts";

let db: ReturnType<typeof openSqlite>;
let store: LedgerStore;
const broken: Error[] = [];
const write = (...writes: Write[]) => store.commit([], writes, AT);
const sessionLog = (matchId: string, epoch: number, log: readonly string[]): Write => {
  return { type: "session_log", leagueId: "l", matchId, epoch, seed: `seed ${epoch}`, log };
};

beforeEach(() => {
  broken.length = 0;
  db = openSqlite(":memory:", MANAGER_SCHEMA);
  const onBroken = (error: Error) => broken.push(error);
  store = managerStore(db, localWriter(db, systemClock, onBroken), onBroken);
});
afterEach(() => db.close());

describe("the manager's store", () => {
  test("has the newest profile of each agent until it is erased", async () => {
    await write(profile("P01"), profile("P02"), profile("P01", "renamed"));
    expect([...(await store.loadProfiles())]).toEqual([
      ["P01", { name: "renamed", salt: "s", endpoint: "http://renamed", tokenHash: "hash of P01" }],
      ["P02", { name: "P02", salt: "s", endpoint: "http://P02", tokenHash: "hash of P02" }],
    ]);
    await write({ type: "erase_profile", agentId: "P01" });
    expect([...(await store.loadProfiles()).keys()]).toEqual(["P02"]);
    expect(db.prepare("SELECT agent_id FROM tokens").all()).toEqual([{ agent_id: "P02" }]);
  });

  test("rejects a second agent with the same token", async () => {
    await write(profile("P01"));
    const duplicate = { ...profile("P02"), profile: { name: "x", salt: "s", endpoint: "", tokenHash: "hash of P01" } };
    await expect(write(duplicate as Write)).rejects.toThrow("UNIQUE constraint failed: tokens.token_hash");
    expect([...(await store.loadProfiles()).keys()]).toEqual(["P01"]);
  });

  test("returns the session log of the newest epoch of a match", async () => {
    await write(sessionLog("R1M1", 2, ["é", '{"n":1}']), sessionLog("R1M1", 1, []), sessionLog("R1M2", 1, []));
    expect(await store.sessionLogOf("l", "R1M1")).toEqual({
      epoch: 2,
      seed: "seed 2",
      log: ["é", '{"n":1}'],
      recordedAt: AT,
    });
    expect(await store.sessionLogOf("other", "R1M1")).toBe(null);
  });

  test.each([
    "UPDATE session_logs SET log = '[]'",
    "DELETE FROM session_logs",
    "REPLACE INTO session_logs SELECT league_id, match_id, epoch, seed, '[]', recorded_at FROM session_logs",
  ])("rejects changes of a session log: %s", async (sql) => {
    await write(sessionLog("R1M1", 1, ["kept"]));
    expect(() => db.exec(sql)).toThrow("session_logs is append-only");
    await expect(write(sessionLog("R1M1", 1, []))).rejects.toThrow("append-only");
    expect((await store.sessionLogOf("l", "R1M1"))?.log).toEqual(["kept"]);
  });

  test("returns the answer times of a player under the newest epoch of each match", async () => {
    const answered = (playerId: string, matchId: string, epoch: number): Write => {
      const times = { turns: epoch, median_ms: 1, p95_ms: 2, max_ms: 3, max_tick: 4, invalid: 0 };
      return { type: "answer_times", leagueId: "l", playerId, matchId, epoch, times };
    };
    await write(answered("P01", "R1M1", 2), answered("P01", "R1M1", 1), answered("P01", "R2M1", 1));
    await write(answered("P01", "R3M1", 1), answered("P02", "R1M1", 7));
    const found = await store.answerTimesOf("l", "P01", ["R2M1", "R1M1", "R9M9"]);
    expect([...found].map(([matchId, { turns }]) => [matchId, turns]).sort()).toEqual([
      ["R1M1", 2],
      ["R2M1", 1],
    ]);
    expect(found.get("R2M1")).toEqual({ turns: 1, median_ms: 1, p95_ms: 2, max_ms: 3, max_tick: 4, invalid: 0 });
    expect((await store.answerTimesOf("other", "P01", ["R1M1"])).size).toBe(0);
    expect((await store.answerTimesOf("l", "P01", [])).size).toBe(0);
  });

  const writeSnapshot = (version: number, ...roundIds: number[]): Promise<void> => {
    const rounds = new Map(roundIds.map((roundId) => [roundId, `${roundId} at ${version}`]));
    return store.writeSnapshot("s", version, { head: `at ${version}`, rounds });
  };
  const roundsOf = (texts: readonly string[]) => new Map(texts.map((text, index) => [index + 1, text]));

  test("has one snapshot of a stream, with the last head and the last text of each round", async () => {
    await writeSnapshot(1, 1, 2);
    await writeSnapshot(5, 2, 3);
    const rounds = roundsOf(["1 at 1", "2 at 5", "3 at 5"]);
    expect(await store.readSnapshot("s")).toEqual({ version: 5, head: "at 5", rounds });
    expect(await store.readSnapshot("t")).toBeNull();
  });

  test("keeps a snapshot when one of an earlier version is written", async () => {
    await writeSnapshot(5, 1, 2);
    await writeSnapshot(3, 2, 3);
    const kept = { version: 5, head: "at 5", rounds: roundsOf(["1 at 5", "2 at 5"]) };
    expect(await store.readSnapshot("s")).toEqual(kept);
  });

  test("keeps the first of several values of a key, and resolves with it", async () => {
    const values = await Promise.all([store.initMeta("seed", "a"), store.initMeta("seed", "b")]);
    expect(values).toEqual(["a", "a"]);
    expect(await store.initMeta("seed", "c")).toBe("a");
    expect([await store.getMeta("seed"), await store.getMeta("run_id")]).toEqual(["a", null]);
  });

  test("reports a full file, and not a violated constraint", async () => {
    await write(profile("P01"));
    const duplicate = { ...profile("P02"), profile: { name: "x", salt: "s", endpoint: "", tokenHash: "hash of P01" } };
    await expect(write(duplicate as Write)).rejects.toThrow("UNIQUE");
    expect(broken).toEqual([]);
    db.exec("PRAGMA max_page_count = 4");
    await expect(write(sessionLog("R1M1", 1, ["x".repeat(100_000)]))).rejects.toThrow("full");
    expect(broken.map(({ message }) => message)).toContainEqual(expect.stringContaining("full"));
  });

  test("removes an erased profile from the file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "manager-store-"));
    const file = join(folder, "store.sqlite");
    const onDisk = openSqlite(file, MANAGER_SCHEMA);
    store = managerStore(onDisk, localWriter(onDisk, systemClock));
    const isInFile = (): boolean => {
      onDisk.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return readFileSync(file).includes("Ann of Somewhere");
    };
    await write(profile("P01", "Ann of Somewhere"), profile("P02"));
    expect(isInFile()).toBe(true);
    await write({ type: "erase_profile", agentId: "P01" });
    expect(isInFile()).toBe(false);
    onDisk.close();
    rmSync(folder, { recursive: true });
  });

  test("reports a damaged file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "manager-store-"));
    const file = join(folder, "store.sqlite");
    const intact = openSqlite(file, MANAGER_SCHEMA);
    const pageOf = (table: string) =>
      Number(intact.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage);
    const pages = ["profiles", "tokens", "streams"].map(pageOf);
    const size = Number(intact.prepare("PRAGMA page_size").get()?.page_size);
    intact.close();
    const descriptor = openSync(file, "r+");
    for (const page of pages) writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
    closeSync(descriptor);
    const damaged = openSqlite(file, "");
    const damagedStore = managerStore(damaged, noWriter, (error) => broken.push(error));
    await expect(damagedStore.loadProfiles()).rejects.toThrow("malformed");
    await expect(damagedStore.streams()).rejects.toThrow("malformed");
    expect(broken).toHaveLength(2);
    damaged.close();
    rmSync(folder, { recursive: true });
  });
});
