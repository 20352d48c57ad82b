import type { Bot } from "../sdk.ts";

/** Any legal action, each as likely as the others. */
export default (({ legal, random }) => random.pick<unknown>(legal)) satisfies Bot;
