import type { Cancel } from "#shared/lib/clock.ts";
import { releaseMatch } from "../commands/match-commands.ts";
import type { League, Match } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import { type EffectsContext, type Part, Tasks } from "./effects-context.ts";

/** The least time after a start of the manager in which a match can be reported, unless `match_ms` is less. */
const AFTER_START_MS = 60_000;

/** What is known about the referee of an assigned match. */
interface RefereeFacts {
  /** Whether it answers its probes. */
  readonly isUp: (refereeId: string) => boolean;
  /** Whether it has accepted the match since the manager's start. */
  readonly hasAccepted: (leagueId: string, match: Match) => boolean;
}

/**
 * Takes a match from a referee that has not completed it within `match_ms` of the assignment, but not within a minute of the manager's start. A
 * match that was not accepted is released as `refused` instead of `overdue`, and one whose referee does not answer as `unreachable`, because a match
 * that is overdue three times is aborted. Timers run on the monotonic clock, so that a change of the system clock neither ends a match nor prolongs it
 * by more than `match_ms`.
 */
export class Deadlines implements Part {
  readonly duty = "match";
  readonly #context: EffectsContext;
  readonly #startedAtMs: number;
  /** By league, then by match and epoch. A timer that has fired is deleted, so that the next pass repeats a release that has failed. */
  readonly #timers = new Map<string, Map<string, Cancel>>();
  readonly #releases = new Tasks();
  readonly #facts: RefereeFacts;

  constructor(context: EffectsContext, facts: RefereeFacts) {
    this.#context = context;
    this.#facts = facts;
    this.#startedAtMs = context.clock.monotonic();
  }

  reconcile({ leagueId }: League, { assigned }: OpenWork): void {
    const before = this.#timers.get(leagueId) ?? new Map<string, Cancel>();
    const timers = new Map<string, Cancel>();
    for (const match of assigned.values()) {
      const key = keyOf(match);
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
    await this.#releases.stop();
  }

  #timer(leagueId: string, match: Match): Cancel {
    return this.#context.clock.after(this.#remainingMs(match), () => {
      const key = keyOf(match);
      this.#timers.get(leagueId)?.delete(key);
      this.#releases.start(`${leagueId}/${key}`, () => this.#release(leagueId, match));
    });
  }

  #remainingMs({ assignedAt }: Match): number {
    const { clock, timeouts } = this.#context;
    const matchMs = timeouts.match_ms - (clock.now() - Date.parse(assignedAt ?? clock.iso()));
    const afterStartMs = Math.min(timeouts.match_ms, AFTER_START_MS) - (clock.monotonic() - this.#startedAtMs);
    return Math.min(Math.max(matchMs, afterStartMs, 0), timeouts.match_ms);
  }

  #release(leagueId: string, match: Match): Promise<void> {
    const { matchId, epoch } = match;
    return this.#context.execute(leagueId, releaseMatch({ leagueId, matchId, epoch, ...this.#cause(leagueId, match) }));
  }

  #cause(leagueId: string, match: Match) {
    const detail = (what: string): string => `its referee did not ${what} in time`;
    const { isUp, hasAccepted } = this.#facts;
    if (!hasAccepted(leagueId, match)) return { reason: "refused", detail: detail("accept it") } as const;
    if (!isUp(match.refereeId ?? "")) return { reason: "unreachable", detail: detail("answer") } as const;
    return { reason: "overdue", detail: detail("complete it") } as const;
  }
}

const keyOf = ({ matchId, epoch }: Match): string => `${matchId}/${epoch}`;
