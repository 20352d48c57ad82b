import { describe, expect, it } from "vitest";
import { optionIn, setOption } from "./uci-options.ts";

const OPTIONS = [
  "option name Hash type spin default 16 min 1 max 1024",
  "option name Ponder type check default false",
  "option name Style type combo default Solid var Solid var Very Wild",
  "option name Clear Hash type button",
  "option name Book File type string default <empty>",
].map((line) => optionIn(line) ?? { name: "", type: "", min: null, max: null, values: [] });

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
  ])("%s = %j", (name, value, command) => {
    expect(setOption(OPTIONS, name, value)).toEqual({ ok: true, value: command });
  });

  it.each([
    ["Hahs", 1, 'has no option "Hahs". Did you mean "Hash"?'],
    ["Threads", 1, 'has no option "Threads"; it has Hash, Ponder, Style, Clear Hash, Book File'],
    ["Hash", 0, "does not accept 0 for Hash: give a whole number from 1 to 1024"],
    ["Hash", 1025, "does not accept 1025 for Hash: give a whole number from 1 to 1024"],
    ["Hash", "big", 'does not accept "big" for Hash: give a whole number from 1 to 1024'],
    ["Ponder", 1, "does not accept 1 for Ponder: give true or false"],
    ["Style", "Wild", 'does not accept "Wild" for Style: give "Solid" or "Very Wild"'],
    ["Clear Hash", 4, "does not accept 4 for Clear Hash: give true, which presses the button"],
  ])("%s = %j is rejected", (name, value, error) => {
    expect(setOption(OPTIONS, name, value)).toEqual({ ok: false, error });
  });
});
