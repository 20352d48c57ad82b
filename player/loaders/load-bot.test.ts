import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/program.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import { botHome } from "../testing/home.ts";
import { matchInfo, playerTurn } from "../testing/turns.ts";
import { loadBot } from "./load-bot.ts";

let folder = "";
let bots: LoadedBot[] = [];
const shown: string[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bots-"));
});
afterEach(async () => {
  for (const bot of bots) await bot.close?.();
  bots = [];
  shown.length = 0;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function loadSource(source: string): Promise<LoadedBot> {
  const file = join(folder, "bot.mjs");
  writeFileSync(file, source);
  const bot = await loadBot(file, systemClock, botHome());
  bots.push(bot);
  return bot;
}

/** Begins a match of a bot. */
async function begin(bot: LoadedBot) {
  const match = bot.create((line) => void shown.push(line));
  await match.start?.(matchInfo());
  return match;
}

test("a class makes one object for each match", async () => {
  const bot = await loadSource("export default class { n = 0; choose() { this.n += 1; return this.n; } }");
  const [one, other] = [await begin(bot), await begin(bot)];
  const actions = [one, one, other].map((match, tick) => match.choose(playerTurn(tick)));
  expect(await Promise.all(actions)).toEqual([1, 2, 1]);
});

test.each([
  ["a class", "export default class { chose() { return 1; } }", "is a class without a method choose"],
  [
    "an object that is made",
    "export default () => ({ start() {}, chose() { return 1; } })",
    "with methods, but without choose",
  ],
  ["an object", "export default { chose() { return 1; } }", "must be a function"],
])("%s without choose is rejected when it is loaded", async (_form, source, reason) => {
  const loading = loadSource(source);
  await expect(loading).rejects.toMatchObject({ message: expect.stringContaining(reason), exitCode: EXIT.config });
});

test("a bot from a file has the hash of its source, and a built-in bot that of its name and the version", async () => {
  const source = "export default () => 1;";
  expect((await loadSource(source)).hash).toBe(sha256Hex(source));
  expect((await loadSource(`${source}\n`)).hash).toBe(sha256Hex(`${source}\n`));
  const { hash } = await loadBot("random", systemClock, botHome());
  expect(hash).toBe(sha256Hex(`built-in bot random ${VERSION}`));
  expect((await loadBot("cycle", systemClock, botHome())).hash).not.toBe(hash);
});

test("a function without parameters may return an action, even an object, and may throw", async () => {
  const bot = await loadSource("export default () => ({ number: 3 })");
  expect(await (await begin(bot)).choose(playerTurn(0))).toEqual({ number: 3 });
  const thrower = await begin(await loadSource('export default () => { throw new Error("later"); }'));
  await expect(thrower.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
  expect(shown).toEqual([`${join(folder, "bot.mjs")}:1:30: Error: later`]);
  const rejecting = await begin(await loadSource('export default async () => { throw new Error("last"); }'));
  await expect(rejecting.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
  expect(shown.at(-1)).toBe(`${join(folder, "bot.mjs")}:1:36: Error: last`);
});

test("the export games limits the games of a bot", async () => {
  const bot = (games: string): string => `export const games = ${games};\nexport default { choose: () => 1 };`;
  expect((await loadSource(bot('["chess.v1", "rps", "nim.v1"]'))).games).toEqual(["chess.v1", "rps.v1", "nim.v1"]);
  expect(await loadSource("export default { choose: () => 1 };")).not.toHaveProperty("games");
  for (const games of ['"chess.v1"', "[]", "[1]"]) {
    await expect(loadSource(bot(games))).rejects.toThrow(
      'its export games must be a list of ids, such as ["chess.v1"]',
    );
  }
});
