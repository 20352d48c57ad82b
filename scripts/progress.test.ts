import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { expect, test, vi } from "vitest";
import { createProgress, standingsTable } from "./progress.ts";

test("a table's columns end where they should, whatever the names are written in", () => {
  const names = ["Ann", "Zoë", "李小龍", "👩‍🚀 Ada", "e\u0301"];
  const standings = names.map((display_name, index) => ({
    ...{ league_id: "l", rank: index + 1, player_id: `P0${index + 1}`, display_name },
    ...{ played: 3, wins: 1, draws: 1, losses: 1, points: 4 },
  }));
  const [, header = "", ...rows] = stripVTControlCharacters(standingsTable("rps", standings)).split("\n");
  expect(rows.map((row) => stringWidth(row))).toEqual(rows.map(() => header.length));
});

test("a terminal is shown a league that an earlier run has started", async () => {
  let drawn = "";
  const terminal = new Writable({
    write(text, _, done) {
      drawn += text;
      done();
    },
  });
  const progress = createProgress(
    Object.assign(terminal, { isTTY: true, columns: 80 }) as unknown as NodeJS.WriteStream,
  );
  const result = { winner: null, points: {}, termination: "normal", reason: "draw", referee_id: "REF01" } as const;
  const match = { match_id: "R3M1", round_id: 3, roles: {}, ...result };
  progress.event({
    ...{ type: "match_completed", league_id: "rps", match, faults: [], completed: 5, matches: 6 },
    standings: [{ rank: 1, player_id: "P01", display_name: "Ann", played: 3, wins: 2, draws: 1, losses: 0, points: 7 }],
  });
  await vi.waitFor(() => expect(stripVTControlCharacters(drawn)).toMatch(/^rps +━+─+ 5\/6 {2}1\. Ann 7/m));
  progress.end();
});
