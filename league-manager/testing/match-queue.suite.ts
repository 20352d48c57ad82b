import { describe, expect, test, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { jobKey, type MatchJob, type MatchQueue, type QueueStats, type QueueWorker } from "../match-queue.ts";

/** The queue of one run as two managers see it. */
interface TestQueue<Transaction> {
  readonly managers: readonly [MatchQueue<Transaction>, MatchQueue<Transaction>];
  /** Runs a change in a transaction. If `change` throws, the transaction is rolled back. */
  readonly commit: (change: (transaction: Transaction) => Promise<void>) => Promise<void>;
}

/** A manager that records the jobs that it holds. */
interface Manager {
  /** The keys of the jobs that it holds, in the order in which it got them. */
  readonly held: readonly string[];
  readonly worker: QueueWorker;
  slots: number;
}

export const job = (number: number, epoch = 1): MatchJob => ({ leagueId: "rps", matchId: `R1M${number}`, epoch });
const jobs = (count: number): readonly MatchJob[] => Array.from({ length: count }, (_, index) => job(index + 1));
const keys = (...list: readonly MatchJob[]): readonly string[] => list.map(jobKey);

/** Lets a manager take up to `slots` jobs. It holds a job until its signal is aborted. */
export function startManager<T>(queue: MatchQueue<T>, slots: number): Manager {
  const held: string[] = [];
  const manager = { held, slots };
  const worker = queue.work(
    () => manager.slots - held.length,
    (taken, signal) => {
      expect(signal.aborted).toBe(false);
      expect(held).not.toContain(jobKey(taken));
      held.push(jobKey(taken));
      signal.addEventListener("abort", () => held.splice(held.indexOf(jobKey(taken)), 1));
    },
  );
  return Object.assign(manager, { worker });
}

export const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, WAIT_OPTIONS);

/** Resolves when the queue has counted these jobs. */
const counted = (queue: Pick<MatchQueue<never>, "stats">, stats: QueueStats): Promise<unknown> =>
  eventually(async () => expect(await queue.stats()).toEqual(stats));

/** Tests an implementation of MatchQueue. `open` returns an empty queue, which is closed at the end of the current test. */
export function testMatchQueue<T>(name: string, open: () => Promise<TestQueue<T>>): void {
  describe(`the match queue ${name}`, () => {
    testTaking(open);
    testEnding(open);
    testDead(open);
  });
}

function testTaking<T>(open: () => Promise<TestQueue<T>>): void {
  test("passes each job once, and jobs of earlier commits first", async () => {
    const { managers, commit } = await open();
    await commit((transaction) => managers[0].enqueue(transaction, jobs(3)));
    await commit((transaction) => managers[1].enqueue(transaction, [job(4)]));
    const manager = startManager(managers[0], 3);
    await eventually(() => expect([...manager.held].sort()).toEqual(keys(...jobs(3))));
    manager.slots = 10;
    manager.worker.wake();
    await eventually(() => expect(manager.held[3]).toBe(jobKey(job(4))));
    await counted(managers[1], { waiting: 0, held: 4 });
    await manager.worker.stop();
  });

  test("does not add a job that exists, whether it waits or is held", async () => {
    const { managers, commit } = await open();
    await commit((transaction) => managers[0].enqueue(transaction, [job(1), job(2)]));
    await commit((transaction) => managers[1].enqueue(transaction, [job(1), job(3)]));
    await counted(managers[0], { waiting: 3, held: 0 });
    const manager = startManager(managers[0], 10);
    await eventually(() => expect([...manager.held].sort()).toEqual(keys(...jobs(3))));
    await managers[0].enqueue(null, jobs(4));
    manager.worker.wake();
    await eventually(() => expect([...manager.held].sort()).toEqual(keys(...jobs(4))));
    await counted(managers[0], { waiting: 0, held: 4 });
    await manager.worker.stop();
  });

  test("passes a manager no more jobs than it has slots, and gives the others to another manager", async () => {
    const { managers, commit } = await open();
    const [first, second] = [startManager(managers[0], 2), startManager(managers[1], 0)];
    await commit((transaction) => managers[0].enqueue(transaction, jobs(5)));
    first.worker.wake();
    second.worker.wake();
    await eventually(() => expect(first.held).toHaveLength(2));
    second.slots = 10;
    second.worker.wake();
    await eventually(() => expect(second.held).toHaveLength(3));
    expect(first.held).toHaveLength(2);
    expect([...first.held, ...second.held].sort()).toEqual(keys(...jobs(5)));
    await Promise.all([first.worker.stop(), second.worker.stop()]);
  });
}

function testEnding<T>(open: () => Promise<TestQueue<T>>): void {
  test("ends a job that waits, and a job that another manager holds", async () => {
    const { managers, commit } = await open();
    const first = startManager(managers[0], 1);
    await commit((transaction) => managers[0].enqueue(transaction, [job(1)]));
    await commit((transaction) => managers[0].enqueue(transaction, [job(2)]));
    first.worker.wake();
    await eventually(() => expect(first.held).toEqual(keys(job(1))));
    await commit((transaction) => managers[1].complete(transaction, [job(1), job(2)]));
    await eventually(() => expect(first.held).toEqual([]));
    await counted(managers[0], { waiting: 0, held: 0 });
    await commit((transaction) => managers[1].enqueue(transaction, [job(1, 2)]));
    first.worker.wake();
    await eventually(() => expect(first.held).toEqual(keys(job(1, 2))));
    await first.worker.stop();
  });

  test("ends a job that does not exist", async () => {
    const { managers, commit } = await open();
    await commit((transaction) => managers[0].complete(transaction, [job(1)]));
    await commit(async (transaction) => {
      await managers[0].enqueue(transaction, [job(2)]);
      await managers[0].complete(transaction, [job(3)]);
    });
    await counted(managers[1], { waiting: 1, held: 0 });
  });

  test("gives a job that a manager gives back to another one", async () => {
    const { managers, commit } = await open();
    const [first, second] = [startManager(managers[0], 2), startManager(managers[1], 0)];
    await commit((transaction) => managers[0].enqueue(transaction, jobs(2)));
    first.worker.wake();
    await eventually(() => expect(first.held).toHaveLength(2));
    first.slots = 0;
    second.slots = 2;
    first.worker.giveBack([job(1), job(3)]);
    expect(first.held).toEqual(keys(job(2)));
    await eventually(() => {
      second.worker.wake();
      expect(second.held).toEqual(keys(job(1)));
    });
    first.worker.giveBack([job(1)]);
    await counted(managers[0], { waiting: 0, held: 2 });
    expect(second.held).toEqual(keys(job(1)));
    await Promise.all([first.worker.stop(), second.worker.stop()]);
  });

  test("gives the jobs of a manager that stops to another one, each to one", async () => {
    const { managers, commit } = await open();
    const first = startManager(managers[0], 5);
    await commit((transaction) => managers[0].enqueue(transaction, jobs(5)));
    first.worker.wake();
    await eventually(() => expect(first.held).toHaveLength(5));
    const second = startManager(managers[1], 10);
    await first.worker.stop();
    expect(first.held).toEqual([]);
    second.worker.wake();
    await eventually(() => expect([...second.held].sort()).toEqual(keys(...jobs(5))));
    first.worker.wake();
    expect(first.held).toEqual([]);
    await second.worker.stop();
    await counted(managers[0], { waiting: 5, held: 0 });
  });
}

/** A job is dead after fewer losses in every implementation in which jobs can be dead. */
const MANY_LOSSES = 25;

/** Lets managers take the only job and stop, until the job is dead or has been lost many times. Returns the reports of dead jobs. */
async function loseOften<T>(managers: readonly MatchQueue<T>[]): Promise<readonly MatchJob[]> {
  const dead: MatchJob[] = [];
  for (const queue of managers) queue.onDead(async (lost) => void dead.push(lost));
  for (let losses = 0; losses < MANY_LOSSES && dead.length === 0; losses++) {
    const manager = startManager(managers[losses % managers.length] as MatchQueue<T>, 1);
    // A dead job is passed to no manager.
    await eventually(() => expect([...manager.held, ...dead.map(jobKey)]).toEqual(keys(job(1))));
    await manager.worker.stop();
  }
  return dead;
}

function testDead<T>(open: () => Promise<TestQueue<T>>): void {
  test("passes a job that managers lose again and again to another one, or reports it as dead to one manager", async () => {
    const { managers, commit } = await open();
    const unexpected: MatchJob[] = [];
    const remove = managers.map((queue) => queue.onDead(async (lost) => void unexpected.push(lost)));
    for (const removeListener of remove) removeListener();
    await commit((transaction) => managers[0].enqueue(transaction, [job(1)]));
    const dead = await loseOften(managers);
    expect(dead.length).toBeLessThanOrEqual(1);
    expect(unexpected).toEqual([]);
  });

  test("passes a job on again that a manager adds after its losses, and the next attempt at the match", async () => {
    const { managers, commit } = await open();
    await commit((transaction) => managers[0].enqueue(transaction, [job(1)]));
    const dead = await loseOften(managers);
    const manager = startManager(managers[0], 2);
    await managers[1].enqueue(null, [job(1)]);
    await commit((transaction) => managers[1].enqueue(transaction, [job(1, 2)]));
    await eventually(() => expect([...manager.held].sort()).toEqual(keys(job(1), job(1, 2))));
    expect(dead.length).toBeLessThanOrEqual(1);
    await manager.worker.stop();
  });
}
