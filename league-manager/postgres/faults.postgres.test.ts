import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GENESIS } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { sharedPostgres, startPostgres } from "#shared/store/testing/postgres-server.ts";
import { DatabaseUnavailable } from "../shared-run/run-database.ts";
import { appendTo, commitOf, commitTo, job, texts, untilAvailable } from "../shared-run/testing/commits.ts";
import type { PostgresRun } from "./postgres-run.ts";
import { RUN_LOCK } from "./run-commits.ts";
import { CountingManager } from "./testing/counting-manager.ts";
import { createRun, openRun, openTestedRun, type TestedPostgresRun } from "./testing/postgres-runs.ts";

describe("a run on a server that is killed", () => {
  test("has every confirmed commit exactly once", async () => {
    const server = await startPostgres();
    const url = await createRun(server);
    const runs = await Promise.all([openRun(url), openRun(url), openRun(url)]);
    const confirmations = new EventEmitter();
    const managers = runs.map((run, index) => {
      return new CountingManager(run, `manager ${index}`, () => confirmations.emit("confirmed"));
    });
    let isEnding = false;
    const working = managers.map(async (manager) => {
      while (!isEnding) await manager.commit();
    });
    for (const _ of [1, 2, 3]) {
      for (let count = 0; count < 30; count++) await once(confirmations, "confirmed");
      await server.kill9();
      await server.restart();
    }
    isEnding = true;
    await Promise.all(working);
    const { number, events } = await (runs[0] as PostgresRun).commitsAfter(0);
    const stored = events.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    expect([...stored].sort()).toEqual(managers.flatMap((manager) => manager.confirmed).sort());
    expect([number, events.map(({ seq }) => seq)]).toEqual([stored.length, stored.map((_, index) => index)]);
    expect(events.map(({ prev_hash }) => prev_hash)).toEqual([GENESIS, ...events.slice(0, -1).map(({ hash }) => hash)]);
    expect(managers.map(({ errors }) => (errors.DatabaseUnavailable ?? 0) > 0)).toEqual([true, true, true]);
    await Promise.all(runs.map((run) => run.close()));
    await server.stop();
  });
});

describe("a transaction", () => {
  let tested: TestedPostgresRun;
  let run: PostgresRun;
  let other: PostgresRun;

  beforeEach(async () => {
    tested = await openTestedRun(await sharedPostgres());
    [run, other] = [await tested.connect(), await tested.connect()];
  });
  afterEach(() => tested.close());

  test("whose process is stopped loses the lock after two seconds, and rejects when the process continues", async () => {
    const script = fileURLToPath(new URL("testing/stopping-manager.ts", import.meta.url));
    const child = spawn(process.execPath, [script, tested.url], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const nextLine = async () => (await lines.next()).value;
      expect(await nextLine()).toBe("stopping");
      await untilAvailable(run);
      expect((await commitTo(run, { appends: [appendTo("s", 0, "of another manager")] })).number).toBe(0);
      child.kill("SIGCONT");
      expect([await nextLine(), await nextLine()]).toEqual(["DatabaseUnavailable", "committed after 1"]);
      expect(await once(child, "exit")).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("whose decision takes longer than two seconds is committed when it is repeated", async () => {
    const transact = () =>
      run.transact(0, () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
        return commitOf({ appends: [appendTo("s", 0, "slow")] });
      });
    await expect(transact()).rejects.toThrow(DatabaseUnavailable);
    await transact();
    expect((await other.commitsAfter(0)).events.map(({ body }) => JSON.parse(body))).toMatchObject([{ text: "slow" }]);
  });

  test("that the server ends rejects with DatabaseUnavailable, and the next one succeeds", async () => {
    const ending = await openRun(tested.url, {
      queue: {
        async enqueue(transaction) {
          await transaction?.query("SELECT pg_terminate_backend(pg_backend_pid())", []);
        },
        async complete() {},
      },
    });
    const commit = commitOf({ appends: [appendTo("s", 0, "lost")], jobs: { added: [job("M1")], ended: [] } });
    await expect(ending.transact(0, () => commit)).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    expect(await ending.hasCommit(commit.id)).toBe(false);
    await commitTo(ending, { appends: [appendTo("s", 0, "made")] });
    expect(texts(await run.commitsAfter(0))).toEqual(["s 0 made"]);
    await ending.close();
  });

  test("that the server ends while it waits for the lock rejects with DatabaseUnavailable, without a decision", async () => {
    const holder = new Client(tested.url);
    await holder.connect();
    await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(${RUN_LOCK})`);
    let decisions = 0;
    const waiting = run.transact(0, () => {
      decisions++;
      return null;
    });
    const outcome = expect(waiting).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    const waiters = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while ((await holder.query(waiters)).rows.length === 0);
    await outcome;
    await holder.end();
    expect(decisions).toBe(0);
    await commitTo(run, {});
    expect((await other.commitsAfter(0)).number).toBe(1);
  });

  test("that waits too long for the lock rejects with DatabaseUnavailable, and does not have it later", async () => {
    const holder = new Client(tested.url);
    await holder.connect();
    await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(${RUN_LOCK})`);
    await expect(run.transact(0, () => commitOf())).rejects.toMatchObject({ name: "DatabaseUnavailable" });
    await holder.end();
    await commitTo(other, {});
    await commitTo(run, {});
    expect((await other.commitsAfter(0)).number).toBe(2);
  });

  test("that only reads and loses its connection during COMMIT rejects with DatabaseUnavailable", async () => {
    await commitTo(run, { appends: [appendTo("s", 0, "1")] });
    for (const moment of ["before", "after"] as const) {
      for (const read of [() => run.commitsAfter(0), () => run.hasCommit(systemIds.uuid())]) {
        tested.proxy.loseNextCommit(moment);
        await expect(read()).rejects.toMatchObject({ name: "DatabaseUnavailable" });
      }
    }
    expect(texts(await run.commitsAfter(0))).toEqual(["s 0 1"]);
  });

  test("over a network that forwards nothing ends, and so does the wait for its answer", async () => {
    await commitTo(run, { appends: [appendTo("s", 0, "1")] });
    tested.proxy.freeze();
    const outcomes = await Promise.allSettled([
      run.transact(1, () => commitOf({ appends: [appendTo("s", 1, "lost")] })),
      run.heartbeat({ managerId: "m1", url: "http://one" }),
      other.transact(1, () => null),
    ]);
    expect(outcomes.map((one) => one.status === "rejected" && one.reason.name)).toEqual(
      outcomes.map(() => "DatabaseUnavailable"),
    );
    const called = new Promise<void>((resolve) => run.onCommits(resolve));
    tested.proxy.restore();
    await called;
    await untilAvailable(run);
    await commitTo(other, { appends: [appendTo("s", 1, "2")] });
    expect(texts(await run.commitsAfter(0))).toEqual(["s 0 1", "s 1 2"]);
  });
});
