import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import type { MatchInfo, Turn } from "../sdk.ts";
import { loadBot } from "./load-bot.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bots-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a bot file and loads it. Each test uses another name, because Node.js caches modules by path. */
async function loadSource(name: string, source: string) {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  return { file, bot: await loadBot(file, systemClock) };
}

test("a class makes one object for each match", async () => {
  const { bot } = await loadSource("class", "export default class { n = 0; choose() { this.n += 1; return this.n; } }");
  const [one, other] = [bot.create(), bot.create()];
  const turn = {} as Turn;
  expect([one.choose(turn), one.choose(turn), other.choose(turn)]).toEqual([1, 2, 1]);
});

test.each([
  ["a class", "export default class { chose() { return 1; } }", "is a class without a method choose"],
  [
    "an object that is made",
    "export default () => ({ start() {}, chose() { return 1; } })",
    "with methods, but without choose",
  ],
  ["an object", "export default { chose() { return 1; } }", "must be a function"],
])("%s without choose is rejected when it is loaded", async (form, source, reason) => {
  const loading = loadSource(form.replaceAll(" ", "-"), source);
  await expect(loading).rejects.toMatchObject({ message: expect.stringContaining(reason), exitCode: EXIT.config });
});

test("a function without parameters may return an action, even an object, and may throw", async () => {
  const { bot } = await loadSource("action", "export default () => ({ number: 3 })");
  expect(bot.create().choose({} as Turn)).toEqual({ number: 3 });
  const thrower = await loadSource("thrower", 'export default () => { throw new Error("later"); }');
  const object = thrower.bot.create();
  object.start?.({} as MatchInfo);
  expect(() => object.choose({} as Turn)).toThrow("later");
});
