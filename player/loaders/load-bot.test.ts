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

/** Loads a bot file of this source; each has a name of its own, because modules are kept by it. */
async function loaded(name: string, source: string) {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  return { file, bot: await loadBot(file, systemClock) };
}

test("a class makes one object a match", async () => {
  const { bot } = await loaded("class", "export default class { n = 0; choose() { this.n += 1; return this.n; } }");
  const [one, other] = [bot.create(), bot.create()];
  const turn = {} as Turn;
  expect([one.choose(turn), one.choose(turn), other.choose(turn)]).toEqual([1, 2, 1]);
});

test.each([
  ["a class", "export default class { chose() { return 1; } }", "is a class without a method choose"],
  [
    "an object that is made",
    "export default () => ({ start() {}, chose() { return 1; } })",
    "has methods, but no choose",
  ],
  ["an object", "export default { chose() { return 1; } }", "must be a function"],
])("%s without choose is told when it is loaded", async (what, source, told) => {
  const loading = loaded(what.replaceAll(" ", "-"), source);
  await expect(loading).rejects.toMatchObject({ message: expect.stringContaining(told), exitCode: EXIT.config });
});

test("a function without parameters may give an action, also an object, and may throw", async () => {
  const { bot } = await loaded("action", "export default () => ({ number: 3 })");
  expect(bot.create().choose({} as Turn)).toEqual({ number: 3 });
  const thrower = await loaded("thrower", 'export default () => { throw new Error("later"); }');
  const object = thrower.bot.create();
  object.start?.({} as MatchInfo);
  expect(() => object.choose({} as Turn)).toThrow("later");
});
