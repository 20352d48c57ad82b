import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { isolatedBot } from "../isolation/isolated-bot.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import { botHome } from "./home.ts";
import { matchInfo } from "./turns.ts";

/** Bot files in a temporary folder for each test of a file, and their matches. */
export function isolatedBots() {
  let folder = "";
  const bots: LoadedBot[] = [];
  /** The lines of the matches. */
  const shown: string[] = [];
  /** The lines outside of matches. */
  const warned: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "isolated-"));
  });
  afterEach(async () => {
    for (const bot of bots.splice(0)) await bot.close?.();
    rmSync(folder, { recursive: true, force: true });
    shown.length = 0;
    warned.length = 0;
  });

  const pathOf = (name: string): string => join(folder, name);

  function write(name: string, source: string): string {
    const file = pathOf(name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
    return file;
  }

  async function load(file: string, allow: Partial<BotPermissions> = {}): Promise<LoadedBot> {
    const warn = (line: string): void => void warned.push(line);
    const home = botHome({ warn, allow: BotPermissions.parse(allow) });
    const bot = await isolatedBot(file, "bot.ts", systemClock, home);
    bots.push(bot);
    return bot;
  }

  async function begin(bot: LoadedBot): Promise<MatchBot> {
    const match = bot.create((line) => void shown.push(line));
    await match.start?.(matchInfo());
    return match;
  }

  /** A bot with the statements of `choose`, in which `turn` is the turn. It begins a match. */
  const beginWith = async (statements: string, allow: Partial<BotPermissions> = {}): Promise<MatchBot> =>
    begin(await load(write("bot.ts", `export default { async choose(turn: any) { ${statements} } };`), allow));

  return { shown, warned, pathOf, write, load, begin, beginWith };
}
