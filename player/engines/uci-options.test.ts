import { describe, expect, it } from "vitest";
import { optionIn, setOption } from "./uci-process.ts";

const OPTIONS = [
  "option name Hash type spin default 16 min 1 max 1024",
  "option name Ponder type check default false",
  "option name Style type combo default Solid var Solid var Very Wild",
  "option name Clear Hash type button",
  "option name Book File type string default <empty>",
  "option name Ratio type spin default 1.5 min 0.5 max 2.5",
  "option name Bonus type spin default 0 min -10 max +10",
].map((line) => optionIn(line) ?? { name: "", type: "", min: null, max: null, isDecimal: false, values: [] });

describe("options of an engine", () => {
  it("other lines declare no option", () => {
    for (const line of ["id name Option", "option name Hash", "info string option name Hash type spin"])
      expect(optionIn(line)).toBeNull();
  });

  it.each([
    ["hash", 32, "setoption name Hash value 32"],
    ["Hash", "1024", "setoption name Hash value 1024"],
    ["Clear Hash", true, "setoption name Clear Hash"],
    ["Style", "very wild", "setoption name Style value Very Wild"],
    ["Book File", "", "setoption name Book File value <empty>"],
    ["Book File", "a b.bin", "setoption name Book File value a b.bin"],
    ["Ponder", "True", "setoption name Ponder value true"],
    ["Ratio", 1.25, "setoption name Ratio value 1.25"],
    ["Ratio", 2, "setoption name Ratio value 2"],
    ["Bonus", 10, "setoption name Bonus value 10"],
  ])("%s = %j", (name, value, command) => {
    expect(setOption(OPTIONS, name, value)).toEqual({ ok: true, value: command });
  });

  it.each([
    ["Hahs", 1, 'has no option "Hahs". Did you mean "Hash"?'],
    ["Threads", 1, 'has no option "Threads"; it has Hash, Ponder, Style, Clear Hash, Book File, Ratio, Bonus'],
    ["Hash", 0, "does not accept 0 for Hash: give a whole number from 1 to 1024"],
    ["Hash", 1025, "does not accept 1025 for Hash: give a whole number from 1 to 1024"],
    ["Hash", 1.5, "does not accept 1.5 for Hash: give a whole number from 1 to 1024"],
    ["Ratio", 3, "does not accept 3 for Ratio: give a number from 0.5 to 2.5"],
    ["Bonus", 11, "does not accept 11 for Bonus: give a whole number from -10 to 10"],
    ["Hash", "big", 'does not accept "big" for Hash: give a whole number from 1 to 1024'],
    ["Ponder", 1, "does not accept 1 for Ponder: give true or false"],
    ["Style", "Wild", 'does not accept "Wild" for Style: give "Solid" or "Very Wild"'],
    ["Clear Hash", 4, "does not accept 4 for Clear Hash: give true, which presses the button"],
  ])("%s = %j is rejected", (name, value, error) => {
    expect(setOption(OPTIONS, name, value)).toEqual({ ok: false, error });
  });
});
