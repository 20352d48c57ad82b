import { type Game, winnersOf } from "#shared/games/game.ts";
import { type GameId, games } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { loadBot } from "../loaders/load-bot.ts";
import type { BotObject, Turn } from "../sdk.ts";
import { botHome } from "./home.ts";

/** The results of the first of two bots. */
export interface Results {
  wins: number;
  draws: number;
  losses: number;
}

/**
 * Plays matches between two built-in bots, which take the roles in turn: each bot has every second role of the game, so that partners in a game of teams are
 * instances of the same bot. The seeds follow from `seed` and the number of the match.
 */
export async function playMatches(
  id: GameId,
  [first, second]: readonly [first: string, second: string],
  { count, options = {}, seed = "strength" }: { count: number; options?: object; seed?: string },
): Promise<Results> {
  const game: Game = games[id];
  const loaded = await Promise.all([first, second].map((bot) => loadBot(bot, systemClock, botHome())));
  const results: Results = { wins: 0, draws: 0, losses: 0 };
  for (let match = 0; match < count; match++) {
    const teamOf = (role: string): number => {
      const team = game.info.teams?.findIndex(({ roles }) => roles.includes(role)) ?? game.roles.indexOf(role);
      return (team + match) % 2;
    };
    const bots = new Map<string, BotObject>(
      game.roles.map((role) => [role, (loaded[teamOf(role)] as (typeof loaded)[number]).create(() => {})]),
    );
    let state = game.initialState({ options: game.options.parse(options), seed: `${seed} ${match}` });
    for (let tick = 0; !game.isTerminal(state); tick++) {
      const [role = ""] = game.toAct(state);
      const view = game.viewState(state, role);
      const random = createRandom(`${seed} ${match} ${role} ${tick}`);
      const turn = { game: id, role, view, legal: game.legalActions(view, role), tick, random };
      const applied = game.applyAction(state, role, await bots.get(role)?.choose(turn as unknown as Turn));
      if (!applied.ok) throw new Error(`${role} at tick ${tick}: ${applied.error.message}`);
      state = applied.value;
    }
    const outcome = game.outcome(state);
    const winners = outcome && winnersOf(outcome);
    if (winners === null) results.draws++;
    else if (teamOf(winners[0] as string) === 0) results.wins++;
    else results.losses++;
  }
  return results;
}
