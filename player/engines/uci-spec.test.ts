import { describe, expect, it } from "vitest";
import { settingsIn, uciSpec } from "./uci-bot.ts";

const folder = process.cwd();

describe("uci:COMMAND", () => {
  it.each([
    ["uci:stockfish", { command: "stockfish" }],
    ["uci: gnuchess --uci ", { command: "gnuchess --uci" }],
    ["uci:stockfish#nodes=77", { command: "stockfish", nodes: 77 }],
    [
      "uci:stockfish#depth=8,option.Hash=16,option.Skill Level=3",
      { command: "stockfish", depth: 8, options: { Hash: "16", "Skill Level": "3" } },
    ],
    ["uci:fish #movetime_ms=50, option.Path = a=b ", { command: "fish", movetime_ms: 50, options: { Path: "a=b" } }],
    ["uci:./c#/fish", { command: "./c#/fish" }],
    ["uci:./c#/fish#nodes=1", { command: "./c#/fish", nodes: 1 }],
  ])("%s", (spec, settings) => expect(settingsIn(spec)).toEqual({ folder, options: {}, ...settings }));

  it.each([
    ["uci:fish#node=5", 'unknown setting "node". Did you mean "nodes"? Give nodes=N, depth=N'],
    ["uci:fish#nodes=five", 'nodes is "five": give a whole number from 1'],
    ["uci:fish#depth=0", 'depth is "0": give a whole number from 1'],
    ["uci:fish#depth=5000", "depth: must be at most 1000"],
    ["uci:fish#depth=5,hash", 'the setting "hash" has no value'],
    ["uci:fish#option.=5", 'unknown setting "option."'],
    ["uci:", "command: "],
    ['uci:{"comand":"fish"}', 'unknown field "comand"'],
  ])("%s is rejected", (spec, message) => expect(() => settingsIn(spec)).toThrow(message));

  it("the settings of a config are passed to the player without a change", () => {
    const settings = {
      command: ["my fish", "#1"],
      folder,
      nodes: 5,
      options: { Style: "a,b", Hash: 16, Ponder: true },
    };
    expect(settingsIn(uciSpec(settings))).toEqual(settings);
  });
});
