import { describe, expect, test } from "vitest";
import { isolatedBots } from "../testing/isolated-bots.ts";
import { playerTurn } from "../testing/turns.ts";

const { shown, beginWith } = isolatedBots();

test("an action that is too long is an error of the turn, and the bot plays the next turn", async () => {
  const match = await beginWith('return turn.tick === 0 ? "x".repeat(1_000_000) : turn.tick;');
  await expect(match.choose(playerTurn(0))).rejects.toThrow("an action may have at most 1000000 bytes");
  expect(shown).toEqual(["bot.ts: an action may have at most 1000000 bytes"]);
  expect(await match.choose(playerTurn(1))).toBe(1);
});

describe("a value that JSON does not have is an error of the turn that names the value:", () => {
  test.each([
    ["NaN", "NaN", "NaN"],
    ["-Infinity", "-Infinity", "-Infinity"],
    ["a function", "() => 1", "a function"],
    ["a symbol", 'Symbol("rock")', "a symbol"],
    ["a BigInt", "5n", "a BigInt"],
    ["an object with NaN", "{ to: { x: NaN } }", "an object that contains NaN"],
    ["a list with a BigInt", "[1, 5n]", "a list that contains a BigInt"],
    ["a circular object", "globalThis.circular", "an object that contains itself"],
  ])("%s", async (_, value, returned) => {
    const circular = "const circular: any = {}; circular.self = circular; (globalThis as any).circular = circular;";
    const match = await beginWith(
      `${circular} return turn.tick === 0 ? ${value} : { legal: turn.legal, no: undefined };`,
    );
    const fault = `the bot returned ${returned}; an action must be a JSON value`;
    await expect(match.choose(playerTurn(0))).rejects.toThrow(fault);
    expect(shown).toEqual([`bot.ts: ${fault}`]);
    expect(await match.choose(playerTurn(1))).toEqual({ legal: playerTurn(1).legal });
  });
});
