import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { standingsTable } from "./progress.ts";

test("a table's columns end where they should, whatever the names are written in", () => {
  const names = ["Ann", "Zoë", "李小龍", "👩‍🚀 Ada", "e\u0301"];
  const standings = names.map((display_name, index) => ({
    ...{ league_id: "l", rank: index + 1, player_id: `P0${index + 1}`, display_name },
    ...{ played: 3, wins: 1, draws: 1, losses: 1, points: 4 },
  }));
  const [, header = "", ...rows] = stripVTControlCharacters(standingsTable("rps", standings)).split("\n");
  expect(rows.map((row) => stringWidth(row))).toEqual(rows.map(() => header.length));
});
