import { type Cancel, systemClock } from "#shared/lib/clock.ts";

interface Scheduled {
  readonly at: number;
  /** The order of events at the same time. */
  readonly order: number;
  /** null after a cancellation. */
  run: (() => void) | null;
}

/** Virtual time. Events run in sequence. Before the next event runs, every promise that can settle without it has settled. */
export interface Scheduler {
  /** Milliseconds since the start of the simulation. */
  now(): number;
  /** Runs `run` after `ms`. Events at the same time run in the order in which they were scheduled. */
  after(ms: number, run: () => void): Cancel;
  /** Runs the next event and lets promises settle. Resolves with false if there is no event. */
  step(): Promise<boolean>;
  /** Runs the events that are due at the current time. */
  finishTurn(): Promise<void>;
}

export function createScheduler(): Scheduler {
  const heap = createHeap();
  let now = 0;
  let order = 0;
  const step = async (): Promise<boolean> => {
    const next = heap.pop();
    if (!next) return false;
    if (!next.run) return step();
    now = next.at;
    next.run();
    await settled();
    return true;
  };
  return {
    now: () => now,
    after(ms, run) {
      const scheduled: Scheduled = { at: now + Math.max(0, ms), order: order++, run };
      heap.push(scheduled);
      return () => {
        scheduled.run = null;
      };
    },
    step,
    async finishTurn() {
      for (let next = heap.first(); next && next.at <= now; next = heap.first()) await step();
    },
  };
}

/** Resolves when no promise of this process can settle without another event. */
export const settled = (): Promise<void> => systemClock.nextTurn();

const isBefore = (a: Scheduled, b: Scheduled): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap with the earliest event at its top. */
function createHeap() {
  const items: Scheduled[] = [];
  const swap = (a: number, b: number): void => {
    [items[a], items[b]] = [items[b] as Scheduled, items[a] as Scheduled];
  };
  const earlier = (a: number, b: number): boolean =>
    a < items.length && isBefore(items[a] as Scheduled, items[b] as Scheduled);
  return {
    first: (): Scheduled | undefined => items[0],
    push(item: Scheduled): void {
      items.push(item);
      for (let at = items.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1;
        if (!earlier(at, parent)) return;
        swap(at, parent);
        at = parent;
      }
    },
    pop(): Scheduled | undefined {
      const top = items[0];
      const last = items.pop();
      if (!top || !last || items.length === 0) return top;
      items[0] = last;
      for (let at = 0; ; ) {
        let first = at;
        if (earlier(2 * at + 1, first)) first = 2 * at + 1;
        if (earlier(2 * at + 2, first)) first = 2 * at + 2;
        if (first === at) return top;
        swap(at, first);
        at = first;
      }
    },
  };
}
