import type { Cancel } from "#shared/lib/clock.ts";
import { releaseMatch } from "../commands/matches.ts";
import type { League, Match } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { EffectsContext, Part } from "./part.ts";

/**
 * Takes a match from a referee that has not ended it in time. The time counts from the assignment, also across restarts. Timers run on the
 * monotonic clock, so that a change of the machine's date neither ends a match nor prolongs it by more than `match_ms`.
 */
export class Deadlines implements Part {
  readonly #context: EffectsContext;
  /** By league, then by match and epoch. */
  readonly #timers = new Map<string, Map<string, Cancel>>();
  readonly #releasing = new Set<Promise<void>>();

  constructor(context: EffectsContext) {
    this.#context = context;
  }

  reconcile({ leagueId }: League, { assigned }: OpenWork): void {
    const before = this.#timers.get(leagueId) ?? new Map<string, Cancel>();
    const timers = new Map<string, Cancel>();
    for (const match of assigned.values()) {
      const key = `${match.matchId}/${match.epoch}`;
      timers.set(key, before.get(key) ?? this.#timer(leagueId, match));
      before.delete(key);
    }
    for (const cancel of before.values()) cancel();
    if (timers.size > 0) this.#timers.set(leagueId, timers);
    else this.#timers.delete(leagueId);
  }

  async stop(): Promise<void> {
    for (const timers of this.#timers.values()) {
      for (const cancel of timers.values()) cancel();
    }
    this.#timers.clear();
    await Promise.all(this.#releasing);
  }

  #timer(leagueId: string, match: Match): Cancel {
    const { clock, timeouts } = this.#context;
    const passedMs = clock.now() - Date.parse(match.assignedAt ?? clock.iso());
    const leftMs = Math.min(Math.max(timeouts.match_ms - passedMs, 0), timeouts.match_ms);
    return clock.after(leftMs, () => {
      const releasing: Promise<void> = this.#release(leagueId, match).finally(() => this.#releasing.delete(releasing));
      this.#releasing.add(releasing);
    });
  }

  #release(leagueId: string, { matchId, epoch }: Match): Promise<void> {
    const detail = "its referee did not end it in time";
    const command = releaseMatch({ leagueId, matchId, epoch, reason: "overdue", detail });
    return this.#context.execute(leagueId, command);
  }
}
