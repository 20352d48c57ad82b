import { afterEach, beforeEach, expect, test } from "vitest";
import { openPostgres } from "#shared/store/postgres/connection.ts";
import { migrate, schemaVersion } from "#shared/store/postgres/migrations.ts";
import { execute, sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import type { Write } from "../ledger.ts";
import { AT, appendTo, commitTo, profileOf } from "../shared-run/testing/commits.ts";
import type { PostgresRun } from "./postgres-run.ts";
import { MIGRATIONS } from "./run-migrations.ts";
import { managerUrl, openTestedRun, type TestedPostgresRun } from "./testing/postgres-runs.ts";

let tested: TestedPostgresRun;
let run: PostgresRun;
const write = (...writes: Write[]) => commitTo(run, { writes });
const sessionLog = (matchId: string, epoch: number, log: readonly string[]): Write => {
  return { type: "session_log", leagueId: "l", matchId, epoch, seed: `seed ${epoch}`, log };
};

beforeEach(async () => {
  tested = await openTestedRun(await sharedPostgres());
  run = await tested.connect();
});
afterEach(() => tested.close());

test("reads the events of a stream, and the streams in the order of their creation", async () => {
  await commitTo(run, { appends: [appendTo("s:ü", 0, "1", "2", "3"), appendTo("s:a", 0, "4"), appendTo("r", 0, "5")] });
  await commitTo(run, { appends: [appendTo("s:ü", 3, "6")] });
  const { events } = await run.commitsAfter(0);
  const ofStream = events.filter(({ stream }) => stream === "s:ü");
  expect(await run.readEvents("s:ü")).toEqual(ofStream);
  expect(await run.readEvents("s:ü", 1, 2)).toEqual(ofStream.slice(1, 3));
  expect([await run.readEvents("s:ü", 4), await run.readEvents("unknown")]).toEqual([[], []]);
  expect([await run.streams(), await run.streams("s:")]).toEqual([
    ["s:ü", "s:a", "r"],
    ["s:ü", "s:a"],
  ]);
});

test("has the newest profile of each agent until it is erased, and then no row of it", async () => {
  await write(profileOf("P01"), profileOf("P02"), profileOf("P01", "Ann of Somewhere"));
  expect(await run.loadProfiles()).toEqual(
    new Map([
      ["P01", profileOf("P01", "Ann of Somewhere").profile],
      ["P02", profileOf("P02").profile],
    ]),
  );
  await write({ type: "erase_profile", agentId: "P01" });
  expect([...(await run.loadProfiles()).keys()]).toEqual(["P02"]);
  for (const table of ["profiles", "tokens"]) {
    expect(await execute(tested.url, `SELECT agent_id FROM ${table}`)).toEqual([{ agent_id: "P02" }]);
  }
});

test("an agent may get the token of an agent that is erased in the same commit; a second agent may not", async () => {
  const withToken = (agentId: string, tokenHash: string): Write => {
    const { type, profile } = profileOf(agentId);
    return { type, agentId, profile: { ...profile, tokenHash } };
  };
  await write(withToken("P01", "t"));
  await write(withToken("P02", "t"), { type: "erase_profile", agentId: "P01" });
  await expect(write(withToken("P03", "t"))).rejects.toThrow("tokens_token_hash_key");
  expect([...(await run.loadProfiles()).keys()]).toEqual(["P02"]);
});

test("returns the session log of the newest epoch of a match", async () => {
  await write(sessionLog("R1M1", 2, ["é", '{"n":1}']), sessionLog("R1M1", 1, []), sessionLog("R1M2", 1, []));
  const newest = { epoch: 2, seed: "seed 2", log: ["é", '{"n":1}'], recordedAt: AT };
  expect([await run.sessionLogOf("l", "R1M1"), await run.sessionLogOf("other", "R1M1")]).toEqual([newest, null]);
});

test.each(["session_logs", "commits"])(
  "rows of %s are never changed, even by the owner of the table",
  async (table) => {
    await write(sessionLog("R1M1", 1, ["kept"]));
    const changes = [`UPDATE ${table} SET ${table === "commits" ? "at = now()" : "log = ''"}`, `DELETE FROM ${table}`];
    for (const sql of [...changes, `TRUNCATE ${table}`]) {
      await expect(execute(tested.url, sql)).rejects.toThrow(`${table} is append-only`);
    }
    await expect(write(sessionLog("R1M1", 1, []))).rejects.toThrow("session_logs_pkey");
    expect((await run.sessionLogOf("l", "R1M1"))?.log).toEqual(["kept"]);
  },
);

test("returns the answer times of a player under the newest epoch of each match", async () => {
  const answered = (playerId: string, matchId: string, epoch: number, max_ms = 3): Write => {
    const times = { turns: epoch, median_ms: 1, p95_ms: 2, max_ms, max_tick: 4, invalid: 0 };
    return { type: "answer_times", leagueId: "l", playerId, matchId, epoch, times };
  };
  await write(answered("P01", "R1M1", 2), answered("P01", "R1M1", 1), answered("P01", "R2M1", 1));
  await write(answered("P01", "R3M1", 1), answered("P02", "R1M1", 7));
  const found = await run.answerTimesOf("l", "P01", ["R2M1", "R1M1", "R9M9"]);
  expect([...found].map(([matchId, { turns }]) => [matchId, turns]).sort()).toEqual([
    ["R1M1", 2],
    ["R2M1", 1],
  ]);
  expect(found.get("R2M1")).toEqual({ turns: 1, median_ms: 1, p95_ms: 2, max_ms: 3, max_tick: 4, invalid: 0 });
  await write(answered("P03", "R1M1", 1, Number.MAX_SAFE_INTEGER));
  expect((await run.answerTimesOf("l", "P03", ["R1M1"])).get("R1M1")?.max_ms).toBe(Number.MAX_SAFE_INTEGER);
  expect((await run.answerTimesOf("other", "P01", ["R1M1"])).size).toBe(0);
  expect((await run.answerTimesOf("l", "P01", [])).size).toBe(0);
});

test("managers share one snapshot of a stream; one of an earlier version changes nothing", async () => {
  const other = await tested.connect();
  const snapshot = (version: number, ...roundIds: number[]) => {
    const rounds = new Map(roundIds.map((roundId) => [roundId, `${roundId} at ${version}`]));
    return ["s", version, { head: `at ${version}`, rounds }] as const;
  };
  const rounds = (...texts: string[]) => new Map(texts.map((text, index) => [index + 1, text]));
  await run.writeSnapshot(...snapshot(1, 1, 2));
  await other.writeSnapshot(...snapshot(5, 2, 3));
  await run.writeSnapshot(...snapshot(4, 1, 2, 3, 4));
  expect(await run.readSnapshot("s")).toEqual({
    version: 5,
    head: "at 5",
    rounds: rounds("1 at 1", "2 at 5", "3 at 5"),
  });
  expect(await run.readSnapshot("t")).toBeNull();
  const versions = [6, 9, 8, 7];
  await Promise.all(
    versions.map((version, index) => [run, other][index % 2]?.writeSnapshot(...snapshot(version, 1, 2))),
  );
  expect(await other.readSnapshot("s")).toEqual({
    version: 9,
    head: "at 9",
    rounds: rounds("1 at 9", "2 at 9", "3 at 5"),
  });
});

test("the first value of a key counts, whichever manager stores it", async () => {
  const other = await tested.connect();
  const [a, b] = await Promise.all([run.initMeta("seed", "a"), other.initMeta("seed", "b")]);
  expect(["a", "b"]).toContain(a);
  expect([b, await other.initMeta("seed", "c"), await run.getMeta("seed"), await run.getMeta("run_id")]).toEqual([
    a,
    a,
    a,
    null,
  ]);
});

test("every read and write rejects with DatabaseUnavailable while the database is away", async () => {
  await tested.cut();
  const outcomes = await Promise.allSettled([
    run.readEvents("s"),
    run.streams(),
    run.loadProfiles(),
    run.sessionLogOf("l", "R1M1"),
    run.answerTimesOf("l", "P01", ["R1M1"]),
    run.readSnapshot("s"),
    run.writeSnapshot("s", 1, { head: "h", rounds: new Map() }),
    run.getMeta("seed"),
    run.initMeta("seed", "a"),
    run.signal("text"),
    run.leave("m1"),
  ]);
  expect(outcomes.map((one) => one.status === "rejected" && one.reason.name)).toEqual(
    outcomes.map(() => "DatabaseUnavailable"),
  );
  await tested.restore();
  expect(await run.streams()).toEqual([]);
});

test("a manager has no right to change logs or the version of the tables", async () => {
  await write(sessionLog("R1M1", 1, ["kept"]));
  const changes = [
    "UPDATE log SET body = ''",
    "DELETE FROM streams",
    "TRUNCATE commits",
    "UPDATE session_logs SET log = ''",
  ];
  for (const sql of [
    ...changes,
    "UPDATE schema_migrations SET number = 9",
    "DROP TABLE log",
    "CREATE TABLE own (n int)",
  ])
    await expect(execute(managerUrl(tested.url), sql)).rejects.toThrow(/permission denied|must be owner/);
});

test("commits have numbers without gaps if the default of the database is another isolation level", async () => {
  const database = new URL(tested.url).pathname.slice(1);
  await execute(tested.url, `ALTER DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`);
  const managers = await Promise.all([tested.connect(), tested.connect()]);
  await Promise.all(managers.flatMap((manager) => Array.from({ length: 10 }, () => commitTo(manager, {}))));
  expect((await run.commitsAfter(0)).number).toBe(20);
});

test("a database that cannot store every name gets no tables", async () => {
  const server = await sharedPostgres();
  await execute(server.url, "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  const { pool, close } = openPostgres<unknown>(server.url.replace(/[^/]*$/, "latin"), { applicationName: "test" });
  await expect(migrate(pool, MIGRATIONS)).rejects.toThrow("the database has the encoding LATIN1");
  expect(await schemaVersion(pool)).toBe(0);
  await close();
});
