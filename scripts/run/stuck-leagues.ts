import type { LiveEvent } from "../../league-manager/projections/live-events.ts";

/** Tracks the leagues of a run that cannot start and those that are completed. */
export class StuckLeagues {
  readonly #count: number;
  readonly #completed = new Set<string>();
  readonly #stuck = new Set<string>();

  /** `count` is the number of leagues of the run. */
  constructor(count: number) {
    this.#count = count;
  }

  /** Records a live event of the manager. */
  event(event: LiveEvent): void {
    if (event.type === "league_started") this.#stuck.delete(event.league_id);
    if (event.type === "league_completed") this.#completed.add(event.league_id);
    if (event.type === "league_stuck") this.#stuck.add(event.league_id);
  }

  get completed(): number {
    return this.#completed.size;
  }

  /** Whether some leagues cannot start and all others are completed, so that the run cannot continue. */
  get isStuck(): boolean {
    return this.#stuck.size > 0 && this.#stuck.size + this.#completed.size === this.#count;
  }
}
