import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Game } from "./game.ts";
import { optionFields } from "./new-game-choices.ts";
import { games } from "./registry.ts";

const names = (id: keyof typeof games): readonly string[] => optionFields(games[id] as Game).map(({ name }) => name);

describe("the options of a game as fields of a form", () => {
  it("of built-in games have words, and options for programs are omitted", () => {
    expect(names("chess.v1")).toEqual(["fen", "max_plies"]);
    expect(names("codenames.v1")).toEqual(["starting_team"]);
    expect(names("tic_tac_toe.v1")).toEqual([]);
    for (const game of Object.values(games) as Game[])
      for (const { label, help, choices = [] } of optionFields(game))
        for (const text of [label, help, ...choices.map((choice) => choice.label)]) expect(text).not.toMatch(/[_{}]/);
  });

  it("have the range, the choices and the default of the game", () => {
    expect(optionFields(games["even_odd.v1"] as Game)).toMatchObject([
      { name: "variant", kind: "choice", preset: "sum", choices: [{ value: "sum" }, { value: "draw" }] },
      { name: "rounds_to_win", kind: "number", min: 1, max: 50 },
      { name: "max_rounds", kind: "number" },
    ]);
  });

  it("of a game of a file are all options that a field can hold, with the texts of the game", () => {
    const options = z.strictObject({
      first_team: z.enum(["red_ones", "blue_ones"]).optional(),
      sticks: z.int().min(1).max(9).default(5),
      words: z.array(z.string()).optional(),
    });
    const info = { options: { sticks: "1 to 9: the sticks at the start; default: 5" } };
    expect(optionFields({ id: "nim.v1", info, options } as unknown as Game)).toEqual([
      {
        name: "first_team",
        kind: "choice",
        label: "First team",
        help: "",
        choices: [
          { value: "red_ones", label: "Red ones" },
          { value: "blue_ones", label: "Blue ones" },
        ],
      },
      {
        name: "sticks",
        kind: "number",
        label: "Sticks",
        preset: 5,
        min: 1,
        max: 9,
        help: "1 to 9: the sticks at the start; default: 5",
      },
    ]);
  });
});
