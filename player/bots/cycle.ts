import type { Bot } from "../sdk.ts";

/** Plays the legal actions in order, the next one at each tick: a predictable opponent for other bots. */
export default (({ legal, tick }) => legal[tick % legal.length]) satisfies Bot;
