import { expireRound } from "../commands/operation.ts";
import { endOfRound, type League } from "../league/league.ts";
import type { EffectsContext, Part } from "./effects-context.ts";
import { Tasks } from "./tasks.ts";

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
