import type { LiveEvent } from "../../league-manager/projections/live.ts";

/** The leagues of a run that cannot start, and those that are completed. */
export class StuckLeagues {
  readonly #count: number;
  readonly #completed = new Set<string>();
  readonly #stuck = new Set<string>();

  /** `count` is the number of all leagues of the run. */
  constructor(count: number) {
    this.#count = count;
  }

  event(event: LiveEvent): void {
    if (event.type === "league_started") this.#stuck.delete(event.league_id);
    if (event.type === "league_completed") this.#completed.add(event.league_id);
    if (event.type === "league_stuck") this.#stuck.add(event.league_id);
  }

  get completed(): number {
    return this.#completed.size;
  }

  /** Whether some leagues cannot start and all others are completed, so that the run has nothing left to wait for. */
  get isStuck(): boolean {
    return this.#stuck.size > 0 && this.#stuck.size + this.#completed.size === this.#count;
  }
}
