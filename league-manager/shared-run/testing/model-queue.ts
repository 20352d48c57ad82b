import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { jobKey, type MatchJob, type MatchQueue } from "../../match-queue.ts";
import { DatabaseUnavailable } from "../run-database.ts";
import type { ModelConnection } from "./model-connection.ts";
import type { JobTaker } from "./model-jobs.ts";
import type { ModelServer } from "./model-server.ts";

/** Changes of the queue that are made when a transaction is committed. */
export type QueueTransaction = (() => void)[];

/** The time between two reports of a manager about its jobs, and between two looks for waiting jobs. */
const REPORT_MS = 2_000;

/** The queue of matches of the model, as one manager sees it. `enqueue` and `complete` without a transaction are made at once. */
export function modelQueue(
  server: ModelServer,
  connection: ModelConnection,
  clock: Pick<Clock, "every">,
): MatchQueue<QueueTransaction> {
  const change = async (transaction: QueueTransaction | null, run: () => void): Promise<void> => {
    if (transaction) transaction.push(run);
    else await connection.request(run);
  };
  return {
    enqueue: (transaction, jobs) => change(transaction, () => server.jobs.add(jobs)),
    complete: (transaction, jobs) => change(transaction, () => server.jobs.end(jobs)),
    work: (slots, handler) => work(server, connection, clock, slots, handler),
    onDead: () => () => {},
    stats: () => connection.request(() => server.jobs.stats()),
  };
}

function work(
  server: ModelServer,
  connection: ModelConnection,
  clock: Pick<Clock, "every">,
  slots: () => number,
  handler: (job: MatchJob, held: AbortSignal) => void,
): ReturnType<MatchQueue<unknown>["work"]> {
  const held = new Map<string, { readonly job: MatchJob; readonly lost: AbortController }>();
  let [isStopped, isTaking, isDue] = [false, false, false];
  const lose = (jobs: readonly MatchJob[]): void => {
    for (const job of jobs) {
      held.get(jobKey(job))?.lost.abort();
      held.delete(jobKey(job));
    }
  };
  const take = async (): Promise<void> => {
    isDue = true;
    if (isTaking) return;
    isTaking = true;
    while (isDue && !isStopped) {
      isDue = false;
      const [mine, free] = [[...held.values()].map(({ job }) => job), slots()];
      const answer = await unlessUnavailable(
        connection.request(() => ({ lost: server.jobs.keep(taker, mine), taken: server.jobs.take(taker, free) })),
      );
      lose(answer?.lost ?? []);
      for (const job of answer?.taken ?? []) {
        if (isStopped || held.has(jobKey(job))) continue;
        const lost = new AbortController();
        held.set(jobKey(job), { job, lost });
        handler(job, lost.signal);
      }
    }
    isTaking = false;
  };
  const taker: JobTaker = { onJobs: () => connection.notify(() => void take()) };
  server.jobs.takers.add(taker);
  const cancel: Cancel = clock.every(REPORT_MS, () => void take());
  void take();
  return {
    wake: () => void take(),
    giveBack(jobs) {
      const mine = jobs.filter((job) => held.has(jobKey(job)));
      lose(mine);
      void unlessUnavailable(connection.request(() => server.jobs.giveBack(taker, mine)));
    },
    async stop() {
      isStopped = true;
      cancel();
      server.jobs.takers.delete(taker);
      lose([...held.values()].map(({ job }) => job));
      await unlessUnavailable(connection.request(() => server.jobs.giveBackAll(taker)));
    },
  };
}

async function unlessUnavailable<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (thrown) {
    if (thrown instanceof DatabaseUnavailable) return null;
    throw thrown;
  }
}
