import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { pairLeague } from "../commands/leagues.ts";
import { opensAtOnce } from "../league/format-view.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Decide } from "../ledger.ts";
import type { EffectsContext, Part } from "./effects-context.ts";
import { Tasks } from "./tasks.ts";

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
