import { jobKey } from "./job-changes.ts";
import type { MatchJob, MatchQueue, QueueWorker } from "./match-queue.ts";

/** The reason of aborted signals. An abort without a reason creates an error with a stack trace. */
const LOST_REASON = "the job is no longer held";

interface LocalWorker {
  readonly slots: () => number;
  readonly handler: (job: MatchJob, held: AbortSignal) => void;
  /** Aborts the signal of each held job, by key. */
  readonly held: Map<string, { readonly job: MatchJob; readonly lost: AbortController }>;
}

/**
 * The queue of a run with one manager. It is in memory, so the manager enqueues the open jobs at its start. A job is passed on in the same turn of the
 * event loop.
 */
export function localQueue(): MatchQueue<null> {
  const waiting = new Map<string, MatchJob>();
  const workers = new Set<LocalWorker>();
  const isHeld = (key: string): boolean => [...workers].some(({ held }) => held.has(key));
  const passOn = (): void => {
    for (const worker of workers) {
      let free = worker.slots();
      for (const [key, job] of waiting) {
        if (free-- < 1) break;
        const lost = new AbortController();
        waiting.delete(key);
        worker.held.set(key, { job, lost });
        worker.handler(job, lost.signal);
      }
    }
  };
  const work = (slots: LocalWorker["slots"], handler: LocalWorker["handler"]): QueueWorker => {
    const worker: LocalWorker = { slots, handler, held: new Map() };
    workers.add(worker);
    passOn();
    return {
      wake: passOn,
      giveBack(jobs) {
        for (const job of jobs) {
          const key = jobKey(job);
          const held = worker.held.get(key);
          if (!held) continue;
          worker.held.delete(key);
          waiting.set(key, job);
          held.lost.abort(LOST_REASON);
        }
        passOn();
      },
      async stop() {
        workers.delete(worker);
        for (const [key, { job, lost }] of worker.held) {
          waiting.set(key, job);
          lost.abort(LOST_REASON);
        }
        worker.held.clear();
        passOn();
      },
    };
  };
  return {
    async enqueue(_transaction, jobs) {
      for (const job of jobs) {
        const key = jobKey(job);
        if (!isHeld(key)) waiting.set(key, job);
      }
      if (jobs.length > 0) passOn();
    },
    async complete(_transaction, jobs) {
      for (const job of jobs) {
        const key = jobKey(job);
        waiting.delete(key);
        for (const { held } of workers) {
          held.get(key)?.lost.abort(LOST_REASON);
          held.delete(key);
        }
      }
    },
    work,
    // A job is dead if many managers have died with it. This queue ends with its only manager.
    onDead: () => () => {},
    stats: async () => ({
      waiting: waiting.size,
      held: [...workers].reduce((sum, { held }) => sum + held.size, 0),
    }),
  };
}
