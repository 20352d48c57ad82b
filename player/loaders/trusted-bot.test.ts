import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NotAnAction } from "../bot-process/bot-object.ts";
import type { Turn } from "../sdk.ts";
import { trustedBot } from "./trusted-bot.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trusted-bot-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function fileWith(code: string): string {
  const file = join(folder, "bot.mjs");
  writeFileSync(file, code);
  return file;
}

const TURN = { legal: ["rock"] } as unknown as Turn;

describe("a trusted bot", () => {
  it("runs in this thread, with the games and the hash of its file", async () => {
    const bot = await trustedBot(
      fileWith('export const games = ["rps"]; export default ({ legal }) => legal[0] + process.pid;'),
    );
    expect(bot.games).toEqual(["rps.v1"]);
    expect(bot.hash).toMatch(/^[\da-f]{64}$/);
    expect(bot.create(() => {}).choose(TURN)).toBe(`rock${process.pid}`);
  });

  it("imports a TypeScript file as .ts, as .js and without an ending", async () => {
    writeFileSync(join(folder, "five.ts"), "export const five: number = 5;");
    const names = ["./five.ts", "./five.js", "./five"];
    const imports = names.map((name, index) => `import { five as f${index} } from "${name}";`);
    const bot = await trustedBot(fileWith(`${imports.join("\n")}\nexport default (_) => [f0, f1, f2];`));
    expect(bot.create(() => {}).choose(TURN)).toEqual([5, 5, 5]);
  });

  it("has one object for each match", async () => {
    const bot = await trustedBot(fileWith("export default class { count = 0; choose() { return ++this.count; } }"));
    const [one, other] = [bot.create(() => {}), bot.create(() => {})];
    expect([one.choose(TURN), one.choose(TURN), other.choose(TURN)]).toEqual([1, 2, 1]);
  });

  it("shows the position of its errors, and answers as a bot in a process of its own", async () => {
    const file = fileWith(`export default {
      start() { throw new TypeError("not yet"); },
      choose() { throw new RangeError("no idea"); },
      async end() { throw new Error("too late"); },
    };`);
    const bot = await trustedBot(file);
    const lines: string[] = [];
    const match = bot.create((line) => lines.push(line));
    await match.start?.({} as never);
    expect(() => match.choose(TURN)).toThrow("the bot threw an error");
    await match.end?.({} as never);
    expect(lines).toEqual([
      expect.stringMatching(/bot\.mjs:2:\d+: TypeError: not yet$/),
      expect.stringMatching(/bot\.mjs:3:\d+: RangeError: no idea$/),
      expect.stringMatching(/bot\.mjs:4:\d+: Error: too late$/),
    ]);
  });

  it("reports the error of an asynchronous bot in the same way", async () => {
    const bot = await trustedBot(fileWith('export default async () => { throw new Error("no idea"); };'));
    await expect(bot.create(() => {}).choose(TURN)).rejects.toThrow("the bot threw an error");
  });

  it.each(["() => NaN", "async () => NaN"])("reports a value that JSON does not have: %s", async (code) => {
    const bot = await trustedBot(fileWith(`export default ${code};`));
    const choose = async (): Promise<unknown> => bot.create(() => {}).choose(TURN);
    await expect(choose()).rejects.toThrow(new NotAnAction("the bot returned NaN; an action must be a JSON value"));
  });

  it.each([
    ["export default {}", /: its default export must be a function/],
    ["export default 3;\nthrow new Error('early');", /bot\.mjs does not load: .*bot\.mjs:2:\d+: Error: early$/],
    ["export default (;", /bot\.mjs does not load: .*SyntaxError/],
    ["export const games = 3; export default () => 1;", /: its export games must be a list of ids/],
  ])("is refused with exit code 3: %s", async (code, message) => {
    await expect(trustedBot(fileWith(code))).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(message),
    });
  });

  it("is refused if there is no such file", async () => {
    await expect(trustedBot(join(folder, "none.mjs"))).rejects.toThrow(/none\.mjs: no such file/);
  });
});
