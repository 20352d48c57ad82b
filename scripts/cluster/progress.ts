import type { LiveEvent } from "../../league-manager/projections/live-events.ts";

/** The number of completed matches of a run, as its managers report them. Each manager reports every match. */
export class Progress {
  readonly #completed = new Map<string, number>();
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();

  event(live: LiveEvent): void {
    if (live.type !== "match_completed") return;
    const before = this.#completed.get(live.league_id) ?? 0;
    if (live.completed <= before) return;
    this.#completed.set(live.league_id, live.completed);
    for (const waiting of this.#waiting) {
      if (this.matches < waiting.count) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** The number of completed matches. */
  get matches(): number {
    return [...this.#completed.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when this number of matches is completed. */
  reached(count: number): Promise<void> {
    if (this.matches >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ count, resolve }));
  }
}
