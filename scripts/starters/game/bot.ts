import type { Bot } from "agent-league";
import type game from "./game.ts";

/** The bot enters leagues of these games only. */
export const games = ["nim.v1"];

/** Takes so many sticks that a multiple of three is left, if it can. */
export default (({ view, legal, random }) => {
  return legal.find((count) => (view.left - count) % 3 === 0) ?? random.pick(legal);
}) satisfies Bot<typeof game>;
