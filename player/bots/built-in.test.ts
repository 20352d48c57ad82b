import { describe, expect, test } from "vitest";
import { BUILT_IN_BOTS, builtInBots } from "#shared/games/built-in-bots.ts";
import type { Game, Role } from "#shared/games/game.ts";
import { gameIds, games } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { loadBot } from "../loaders/load-bot.ts";
import type { BotObject, Turn } from "../sdk.ts";
import { botHome } from "../testing/home.ts";

/** Returns a turn with the view of a role, serialized and parsed as on the wire. */
function turnOf(game: Game, state: unknown, role: Role, tick: number): Turn {
  const view = JSON.parse(JSON.stringify(game.viewState(state, role)));
  const random = createRandom(`${game.id} ${role} ${tick}`);
  const turn = { game: game.id, role, view, legal: [...game.legalActions(view, role)], tick, random };
  const history = (): never => {
    throw new Error("a built-in bot must not read turn.history");
  };
  return Object.defineProperty(turn, "history", { get: history }) as unknown as Turn;
}

/** Plays a game to its end with one bot in every role. Returns the outcome; throws if the bot chooses an illegal action. */
async function playOut(game: Game, create: () => BotObject): Promise<unknown> {
  const bots = new Map(game.roles.map((role) => [role, create()]));
  let state = game.initialState({ options: game.options.parse({}), seed: "built-in" });
  for (let tick = 0; !game.isTerminal(state); tick++) {
    const [role = ""] = game.toAct(state);
    const action = await bots.get(role)?.choose(turnOf(game, state, role, tick));
    const applied = game.applyAction(state, role, action);
    if (!applied.ok) throw new Error(`${role} at tick ${tick}: ${JSON.stringify(action)}: ${applied.error.message}`);
    state = applied.value;
  }
  return game.outcome(state);
}

describe.each(builtInBots)("%s", (name) => {
  test.each(BUILT_IN_BOTS[name]?.games ?? gameIds)("plays every role of %s to the end", async (id) => {
    const { create, readsHistory } = await loadBot(name, systemClock, botHome());
    expect(readsHistory).toBe(false);
    expect(await playOut(games[id], () => create(() => {}))).not.toBeNull();
  });
});
