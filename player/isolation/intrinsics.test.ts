import { expect, test } from "vitest";
import { isolatedBots } from "../testing/isolated-bots.ts";
import { playerTurn } from "../testing/turns.ts";

const { write, load, begin } = isolatedBots();

const BOT = "export default () => 7;";

test.each([
  ["Promise.prototype.then", "Promise.prototype.then = () => {};"],
  ["Promise.prototype.then", "Promise.prototype.then = () => {}; throw new Error();"],
  ["Promise.prototype.then", "await null; Promise.prototype.then = () => {}; await null;"],
  ["Array.prototype[Symbol.iterator]", "Array.prototype[Symbol.iterator] = () => {};"],
  ["Array.prototype.push", "Array.prototype.push = () => 0;"],
  ["next of the iterators of arrays", "Object.getPrototypeOf([].values()).next = () => ({});"],
  ["Function.prototype.apply", "Function.prototype.apply = () => {};"],
  ["Map.prototype.get", "Map.prototype.get = () => {};"],
  ["JSON.stringify", "JSON.stringify = () => {}; process.exit = () => {};"],
  ["JSON.parse", "JSON.parse = () => {};"],
  ["Buffer.concat", "Buffer.concat = () => {};"],
  ["globalThis.process", "globalThis.process = undefined;"],
  ["process.nextTick", "process.nextTick = () => {};"],
  [
    "fs.writeSync",
    'import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module"; fs.writeSync = () => 0; syncBuiltinESMExports();',
  ],
])("a bot that replaces %s is rejected at once with an error that names it: %s", async (name, statements) => {
  await expect(load(write("bot.ts", `${statements}\n${BOT}`))).rejects.toMatchObject({
    message: `bot.ts: it replaces ${name}, which its process needs; leave it unchanged`,
    exitCode: 3,
  });
});

test.each([
  "Promise.prototype.catch = Promise.prototype.finally = () => {};",
  "Promise.resolve = Promise.all = () => {};",
  "globalThis.Promise = class {};",
  "Array.prototype.flat = Array.prototype.sort = () => {};",
  "Array.prototype.last = function () { return this.at(-1); };",
  "process.exit = process.emit = process.stdout.write = () => {};",
  "globalThis.setTimeout = globalThis.setInterval = globalThis.setImmediate = globalThis.queueMicrotask = () => {};",
  "Object.prototype.then = () => {};",
])("a bot plays although it has changed parts of the language: %s", async (statements) => {
  const match = await begin(await load(write("bot.ts", `${statements}\n${BOT}`)));
  expect(await match.choose(playerTurn(0))).toBe(7);
});
