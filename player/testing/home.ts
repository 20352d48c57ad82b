import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import type { BotHome } from "../loaded-bot.ts";

/** The player in whose process a bot is loaded, for tests. Lines are not shown. */
export const botHome = (given: Partial<BotHome> = {}): BotHome => ({
  recordsFolder: () => {
    throw new Error("this bot keeps no records");
  },
  say: () => {},
  warn: () => {},
  fail: () => {},
  allow: BotPermissions.parse({}),
  inspect: null,
  ...given,
});
