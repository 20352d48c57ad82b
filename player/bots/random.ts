import type { Bot } from "../sdk.ts";

/** Plays a random legal action; all are equally likely. */
export default (({ legal, random }) => random.pick<unknown>(legal)) satisfies Bot;
