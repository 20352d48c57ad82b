import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { BotObject, Turn } from "./sdk.ts";

/** Returns a bot that writes each turn to the terminal: the view as text, the number of legal actions, the action and the time. */
export const withShownTurns = (bot: LoadedBot, clock: Clock): LoadedBot => ({
  ...bot,
  create(...given) {
    const inner = bot.create(...given);
    return {
      start: (info) => inner.start?.(info),
      choose: (turn) => showTurn(inner, turn, clock),
      end: (result) => inner.end?.(result),
      close: () => inner.close?.(),
    };
  },
});

async function showTurn(bot: BotObject, turn: Turn, clock: Clock): Promise<unknown> {
  const { game, role, view, legal, tick, rejection } = turn;
  const again = rejection === null ? "" : `, again: ${rejection}`;
  turn.log(`tick ${tick} as ${role}, ${legal.length} legal actions${again}`);
  for (const line of (findGame(game)?.toText(view, role) ?? "").split("\n")) turn.log(`  ${line}`);
  const began = clock.monotonic();
  const time = (): string => `${(clock.monotonic() - began).toFixed(1)} ms`;
  try {
    const action = await bot.choose(turn);
    turn.log(`tick ${tick}: ${JSON.stringify(action)} after ${time()}`);
    return action;
  } catch (thrown) {
    turn.log(`tick ${tick}: no action after ${time()}`);
    throw thrown;
  }
}
