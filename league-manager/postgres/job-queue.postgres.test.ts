import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { execute } from "#shared/store/testing/postgres-server.ts";
import { jobKey, type MatchJob } from "../match-queue.ts";
import { eventually, job, startManager } from "../testing/match-queue.suite.ts";
import { createJobQueue, openJobQueue } from "./job-queue.ts";
import { openFaultProxy } from "./testing/fault-proxy.ts";
import { createTestJobQueues, type TestJobQueues } from "./testing/job-queues.ts";

const KEY = jobKey(job(1));

/** Starts a process that takes jobs. Returns its lines. */
function startHolder({ url }: TestJobQueues) {
  const script = fileURLToPath(new URL("./testing/job-holder.ts", import.meta.url));
  const child = spawn(process.execPath, [script, url], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, nextLine: async () => (await lines.next()).value };
}

test("a transaction that is rolled back adds and ends no job", async () => {
  const queues = await createTestJobQueues();
  const queue = await queues.open();
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  const rolledBack = queues.commit(async (transaction) => {
    await queue.complete(transaction, [job(1)]);
    await queue.enqueue(transaction, [job(2)]);
    throw new Error("no commit");
  });
  await expect(rolledBack).rejects.toThrow("no commit");
  await queues.commit((transaction) => queue.enqueue(transaction, [job(3)]));
  const manager = startManager(queue, 10);
  await eventually(() => expect([...manager.held].sort()).toEqual([KEY, jobKey(job(3))]));
  await manager.worker.stop();
});

test.each([
  [1, 2],
  [2, 1],
])("a commit that ends jobs %i and %i while they are confirmed causes no deadlock", async (first, last) => {
  const queues = await createTestJobQueues();
  // The manager confirms its jobs more often, because the server ends a transaction that waits two seconds for its client.
  const queue = await queues.open(queues.url, {
    ...systemClock,
    every: (ms, callback) => systemClock.every(ms / 10, callback),
  });
  const manager = startManager(queue, 10);
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1), job(2)]));
  await eventually(() => expect(manager.held).toHaveLength(2));
  await queues.commit(async (transaction) => {
    await queue.complete(transaction, [job(first)]);
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'league-queue' AND wait_event_type = 'Lock'";
    await eventually(async () => expect(await execute(queues.url, waiting)).toHaveLength(1));
    await queue.complete(transaction, [job(last)]);
  });
  await eventually(() => expect(manager.held).toEqual([]));
  expect(queues.errors).toEqual([]);
  await manager.worker.stop();
});

test("the job of a killed process is passed to another manager, and that of a process that runs is not", async () => {
  const queues = await createTestJobQueues();
  const queue = await queues.open();
  const holder = startHolder(queues);
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  expect(await holder.nextLine()).toBe(`got ${KEY}`);
  const other = startManager(queue, 10);
  // Longer than the time after which a job that is not confirmed is passed on.
  const confirmed = "SELECT 1 FROM pgboss.job WHERE name = 'matches' AND heartbeat_on > started_on + interval '12 s'";
  await eventually(async () => expect(await execute(queues.url, confirmed)).toHaveLength(1));
  expect(other.held).toEqual([]);
  holder.child.kill("SIGKILL");
  await eventually(() => expect(other.held).toEqual([KEY]));
  await other.worker.stop();
});

test("a process that is stopped for a long time knows that it has lost its job when it continues", async () => {
  const queues = await createTestJobQueues();
  const queue = await queues.open();
  const holder = startHolder(queues);
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  expect(await holder.nextLine()).toBe(`got ${KEY}`);
  holder.child.kill("SIGSTOP");
  const other = startManager(queue, 10);
  await eventually(() => expect(other.held).toEqual([KEY]));
  holder.child.kill("SIGCONT");
  expect(await holder.nextLine()).toBe(`lost ${KEY}`);
  expect(other.held).toEqual([KEY]);
  await other.worker.stop();
});

test("a manager without the database loses its jobs, and takes jobs again when it has a connection", async () => {
  const queues = await createTestJobQueues();
  const proxy = await openFaultProxy(queues.url);
  onTestFinished(() => proxy.close());
  const [cut, queue] = [await queues.open(proxy.url), await queues.open()];
  const manager = startManager(cut, 10);
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  await eventually(() => expect(manager.held).toEqual([KEY]));
  proxy.cut();
  await eventually(() => expect(manager.held).toEqual([]));
  const other = startManager(queue, 10);
  await eventually(() => expect(other.held).toEqual([KEY]));
  expect(queues.errors.length).toBeGreaterThan(0);
  proxy.restore();
  await queues.commit((transaction) => queue.enqueue(transaction, [job(2)]));
  other.slots = 0;
  await eventually(() => expect([...manager.held, ...other.held].sort()).toEqual([KEY, jobKey(job(2))]));
  await Promise.all([manager.worker.stop(), other.worker.stop()]);
});

test("a job that many managers have lost is reported as dead until a manager adds it again", async () => {
  const queues = await createTestJobQueues();
  const queue = await queues.open();
  const dead: MatchJob[] = [];
  let isFailing = true;
  queue.onDead(async (lost) => {
    dead.push(lost);
    if (isFailing) throw new Error("not added");
    await queue.enqueue(null, [lost]);
  });
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  while (dead.length === 0) {
    const manager = startManager(queue, 1);
    await eventually(() => expect(manager.held.length + dead.length).toBe(1));
    await manager.worker.stop();
  }
  expect(dead).toEqual([job(1)]);
  isFailing = false;
  await execute(
    queues.url,
    "UPDATE pgboss.job SET started_on = started_on - interval '61 s' WHERE name = 'lost_matches'",
  );
  const manager = startManager(queue, 1);
  await eventually(() => expect(manager.held).toEqual([KEY]));
  expect(dead).toEqual([job(1), job(1)]);
  const ended = "SELECT count(*) FROM pgboss.job WHERE name = 'lost_matches' AND state = 'completed'";
  await expect.poll(() => execute(queues.url, ended)).toMatchObject([{ count: "1" }]);
  await manager.worker.stop();
});

test("a job that is given back is not counted as lost, and its end is not undone", async () => {
  const queues = await createTestJobQueues();
  const queue = await queues.open();
  await queues.commit((transaction) => queue.enqueue(transaction, [job(1)]));
  const manager = startManager(queue, 1);
  for (let time = 0; time < 3; time++) {
    await eventually(() => expect(manager.held).toEqual([KEY]));
    manager.worker.giveBack([job(1)]);
    expect(manager.held).toEqual([]);
  }
  await eventually(() => expect(manager.held).toEqual([KEY]));
  expect(await execute(queues.url, "SELECT state, retry_count FROM pgboss.job WHERE name = 'matches'")).toEqual([
    { state: "active", retry_count: 0 },
  ]);
  await queues.commit((transaction) => queue.complete(transaction, [job(1)]));
  manager.worker.giveBack([job(1)]);
  await manager.worker.stop();
  expect(await execute(queues.url, "SELECT state FROM pgboss.job WHERE name = 'matches'")).toEqual([
    { state: "completed" },
  ]);
  expect(queues.errors).toEqual([]);
});

test("the tables are created twice without an error, and a manager does not start without them", async () => {
  const { url } = await createTestJobQueues();
  await createJobQueue(url);
  const empty = new URL(url);
  empty.pathname = "/postgres";
  const opening = openJobQueue({
    url: empty.href,
    clock: { every: () => () => {}, monotonic: () => 0 },
    onError: () => {},
  });
  await expect(opening).rejects.toThrow(/pg-boss|schema/i);
});
