import type { Bot } from "agent-league";

/** Returns one of the legal actions. A turn also has `view`, the part of the game that this role may know. */
export default (({ legal, random }) => {
  return random.pick(legal);
}) satisfies Bot<"rps.v1">;
