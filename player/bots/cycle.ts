import type { Bot } from "../sdk.ts";

/** Goes through the legal actions in order, one further at each tick: predictable, for others to exploit. */
export default (({ legal, tick }) => legal[tick % legal.length]) satisfies Bot;
