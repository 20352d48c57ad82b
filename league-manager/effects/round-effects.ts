import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { expireRound, openRound, pairLeague } from "../commands/league-commands.ts";
import { opensAtOnce } from "../league/format-view.ts";
import { endOfRound, type League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide } from "../ledger.ts";
import { type EffectsContext, type Part, Tasks } from "./effects-context.ts";

/** The state in which a format had no new round. It is asked again after a change of this state. */
interface AskedState extends Pick<League, "completedCount" | "entrants" | "departed"> {
  readonly slots: number;
}

/** Asks the format of each running league for the next rounds. */
export class Pairing implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #freeSlots: (league: League) => number;
  readonly #tasks = new Tasks();
  /** By league id. It is in memory only: after a restart each format is asked once more. */
  readonly #answered = new Map<string, AskedState>();

  /** `freeSlots` returns the number of matches of a league that the referees can start now. */
  constructor(context: EffectsContext, freeSlots: (league: League) => number) {
    this.#context = context;
    this.#freeSlots = freeSlots;
  }

  reconcile(league: League, work: OpenWork): void {
    if (!work.isToPair) return void this.#answered.delete(league.leagueId);
    const slots = opensAtOnce(league) ? this.#slots(league, work) : 0;
    const answered = this.#answered.get(league.leagueId);
    if (answered && slots <= answered.slots && isUnchanged(answered, league)) return;
    this.#tasks.start(league.leagueId, () => this.#pair(league.leagueId, slots));
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  async #pair(leagueId: string, slots: number): Promise<void> {
    const command = pairLeague(leagueId, this.#context.leagueSeedOf(leagueId), slots);
    const decide: Decide<null> = (state, at) => {
      const decided = command(state, at);
      const league = state.leagues.get(leagueId);
      const isWithoutRound = decided.ok && (decided.value.leagueEvents ?? []).length === 0;
      if (league && isWithoutRound) this.#answered.set(leagueId, { ...league, slots });
      return decided;
    };
    await this.#context.execute(leagueId, decide);
  }

  /** The number of matches that can be started besides those that wait for a referee. A player of another dialect has one match at a time. */
  #slots(league: League, { unassigned, assigned }: OpenWork): number {
    const free = this.#freeSlots(league) - unassigned.size;
    const { agents } = this.#context.ledger.state;
    const isOfDialect = (id: string): boolean => (agents.get(id)?.dialect ?? NATIVE) !== NATIVE;
    const limit = [...league.entrants.keys()].some(isOfDialect) ? 1 - unassigned.size - assigned.size : free;
    return Math.max(0, Math.min(free, limit));
  }
}

const isUnchanged = (answered: AskedState, { completedCount, entrants, departed }: League): boolean =>
  answered.completedCount === completedCount && answered.entrants === entrants && answered.departed === departed;

/**
 * Opens the next round of a league when all earlier ones are completed. The matches of players that are shut down are forfeited in the same append.
 */
export class Rounds implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #tasks = new Tasks();

  constructor(context: EffectsContext) {
    this.#context = context;
  }

  reconcile({ leagueId }: League, { roundToOpen }: OpenWork): void {
    if (roundToOpen === null) return;
    const command = openRound(leagueId, roundToOpen);
    this.#tasks.start(`${leagueId}/${roundToOpen}`, () => this.#context.execute(leagueId, command));
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }
}

/**
 * Ends the current round of a league when its time is over. The end follows from the times in the log, and each pass compares it with the clock, so that
 * a restart changes nothing. A round has its whole time again after the league was resumed.
 */
export class RoundTime implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #tasks = new Tasks();

  constructor(context: EffectsContext) {
    this.#context = context;
  }

  reconcile(league: League): void {
    const { leagueId, currentRound } = league;
    const endMs = currentRound === null ? null : endOfRound(league, currentRound);
    if (currentRound === null || endMs === null || this.#context.clock.now() < endMs) return;
    const command = expireRound(leagueId, currentRound);
    this.#tasks.start(`${leagueId}/${currentRound}`, () => this.#context.execute(leagueId, command));
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }
}
