import type { Bot } from "agent-league";

/** The bot enters leagues of these games only. */
export const games = ["rps.v1"];

/** Returns one of the legal actions. A turn also has `view`, the part of the game that this role may know. */
export default (({ legal, random }) => {
  return random.pick(legal);
}) satisfies Bot<"rps.v1">;
