import { openRound } from "../commands/rounds.ts";
import type { League } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { EffectsContext, Part } from "./effects-context.ts";
import { Tasks } from "./tasks.ts";

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
