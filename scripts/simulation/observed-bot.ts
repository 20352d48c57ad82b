import type { LoadedBot } from "../../player/loaded-bot.ts";
import type { BotObject } from "../../player/sdk.ts";
import type { BotSeat } from "./machines/observer.ts";

/**
 * Returns a bot that reports each view that it receives, as JSON. After its answer it overwrites the elements of the lists in the view, as a bot may do:
 * the views of later turns must not change.
 */
export const withObservedViews = (bot: LoadedBot, onView: (seat: BotSeat, view: string) => void): LoadedBot => ({
  ...bot,
  create(log) {
    const inner = bot.create(log);
    let match = { leagueId: "", matchId: "", epoch: 0 };
    const observed: BotObject = {
      async choose(turn) {
        const { view, role, tick } = turn;
        onView({ ...match, role, tick }, JSON.stringify(view));
        const action = await inner.choose(turn);
        overwriteLists(view);
        return action;
      },
      start(info) {
        match = info;
        return inner.start?.(info);
      },
      end: (result) => inner.end?.(result),
    };
    return { ...observed, close: () => inner.close?.() };
  },
});

function overwriteLists(value: unknown): void {
  if (Array.isArray(value)) value.fill(null);
  else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) overwriteLists(one);
}
