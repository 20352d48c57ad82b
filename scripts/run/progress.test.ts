import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { describe, expect, it, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { RatingsDocument } from "../../league-manager/projections/ratings.ts";
import { createProgress } from "./progress.ts";
import { crosstableText, standingsTable, withResult } from "./tables.ts";

test("standingsTable aligns its columns for names of any script", () => {
  const names = ["Ann", "Zoë", "李小龍", "👩‍🚀 Ada", "e\u0301"];
  const standings = names.map((display_name, index) => ({
    league_id: "l",
    rank: index + 1,
    player_id: `P0${index + 1}`,
    display_name,
    played: 3,
    wins: 1,
    draws: 1,
    losses: 1,
    points: 4,
  }));
  const [, header = "", ...rows] = stripVTControlCharacters(standingsTable("rps", standings)).split("\n");
  expect(rows.map((row) => stringWidth(row))).toEqual(rows.map(() => header.length));
});

/** Creates a stream that behaves like a terminal. `drawn` returns its output without escape sequences. */
function openTerminal(): { readonly stream: NodeJS.WriteStream; readonly drawn: () => string } {
  let drawn = "";
  const terminal = new Writable({
    write(text, _, done) {
      drawn += text;
      done();
    },
  });
  const stream = Object.assign(terminal, { isTTY: true, columns: 80 }) as unknown as NodeJS.WriteStream;
  return { stream, drawn: () => stripVTControlCharacters(drawn) };
}

test("progress at a terminal shows a league that was started before an interruption", async () => {
  const { stream, drawn } = openTerminal();
  const progress = createProgress(stream, systemClock);
  const result = { winner: null, points: {}, termination: "normal", reason: "draw", referee_id: "REF01" } as const;
  const match = { match_id: "R3M1", round_id: 3, roles: {}, ...result };
  progress.event({
    type: "match_completed",
    league_id: "rps",
    match,
    faults: [],
    completed: 5,
    matches: 6,
    standings: [{ rank: 1, player_id: "P01", display_name: "Ann", played: 3, wins: 2, draws: 1, losses: 0, points: 7 }],
  });
  await vi.waitFor(() => expect(drawn()).toMatch(/^rps +━+─+ 5\/6 {2}1\. Ann 7/m), WAIT_OPTIONS);
  progress.end();
});

test("progress at a terminal shows who registers if the players come one after the other", () => {
  const event = { type: "registered", agent_id: "P01", name: "Ann", kind: "player" } as const;
  const drawnWith = (options: object): string => {
    const { stream, drawn } = openTerminal();
    const progress = createProgress(stream, systemClock, options);
    progress.event(event);
    progress.end();
    return drawn();
  };
  expect(drawnWith({ showsRegistrations: true })).toBe("P01 registered: Ann\n");
  expect(drawnWith({})).toBe("");
});

test("progress shows the state of a sequential test after each match", async () => {
  const result = {
    state: "continue",
    llr: 1.2345,
    lower: -2.9444,
    upper: 2.9444,
    pairs: [0, 0, 1, 1, 0],
    text: "",
  } as const;
  const ended = { winner: null, points: {}, termination: "normal", reason: "draw", referee_id: "REF01" } as const;
  const event = {
    type: "match_completed",
    league_id: "sprt",
    faults: [],
    completed: 4,
    matches: 20,
    result,
    match: { match_id: "R2M2", round_id: 2, roles: {}, ...ended },
    standings: [{ rank: 1, player_id: "P01", display_name: "Ann", played: 4, wins: 1, draws: 3, losses: 0, points: 6 }],
  } as const;
  const terminal = openTerminal();
  const bars = createProgress(terminal.stream, systemClock);
  bars.event(event);
  await vi.waitFor(
    () => expect(terminal.drawn()).toMatch(/4\/20 {2}SPRT 1\.23 \(-2\.94, 2\.94\) {2}1\. Ann 6/),
    WAIT_OPTIONS,
  );
  bars.end();
  const plain = openTerminal();
  createProgress(Object.assign(plain.stream, { isTTY: false }), systemClock).event(event);
  expect(plain.drawn()).toMatch(/\[4\/20.*, SPRT 1\.23 \(-2\.94, 2\.94\)\]\n$/);
});

test("standingsTable has the result of the format as its last line", () => {
  const table = standingsTable("l", []);
  const result = {
    state: "H1",
    llr: 3,
    lower: -2.9444,
    upper: 2.9444,
    pairs: [0, 0, 0, 0, 9],
    text: "H1 accepted",
  } as const;
  expect(withResult(table, result)).toBe(`${table}\n  H1 accepted`);
  expect(withResult(table, undefined)).toBe(table);
});

test("progress at a terminal reports a suspended player", () => {
  const { stream, drawn } = openTerminal();
  const progress = createProgress(stream, systemClock);
  progress.event({
    type: "player_state",
    agent_id: "P01",
    name: "Ann",
    was: "ACTIVE",
    state: "SUSPENDED",
    league_ids: ["rps"],
  });
  progress.end();
  expect(drawn()).toBe("Ann (P01) is suspended: it did not answer in time\n");
});

test("standingsTable has columns for byes and tie-breaks of leagues that have them", () => {
  const row = { display_name: "Ann", player_id: "P01", played: 2, wins: 1, draws: 0, losses: 1, byes: 1, points: 6 };
  const tie_breaks = { "sonneborn-berger": 7.5, "head-to-head": null };
  const [, header, first] = standingsTable("l", [{ rank: 1, ...row, tie_breaks }]).split("\n");
  expect(header).toBe("  #  Player       Played  Won  Drawn  Lost  Byes  Points  S-B  Direct");
  expect(first).toBe("  1  Ann     P01       2    1      0     1     1       6  7.5");
});

describe("standingsTable with ratings", () => {
  const row = { played: 2, wins: 1, draws: 0, losses: 1, points: 3 };
  const standings = ["Ann", "Bob"].map((display_name, i) => ({
    rank: i + 1,
    player_id: `P0${i + 1}`,
    display_name,
    ...row,
  }));
  const ratings = (significant: boolean, matches = 2, likelihood = 0.7049): RatingsDocument => ({
    model: "bradley-terry",
    matches,
    players: [
      { player_id: "P02", display_name: "Bob", rating: 1520.6, error: 99.5, matches: 2, percent: 50 },
      { player_id: "P01", display_name: "Ann", rating: 1479.4, error: 99.4, matches: 2, percent: 50 },
    ],
    comparisons: [{ player_id: "P02", other_id: "P01", difference: 41.2, error: 150, likelihood, significant }],
  });

  it("has two columns for them, and says which neighbours are not significant yet", () => {
    expect(standingsTable("l", standings, ratings(false)).split("\n")).toEqual([
      "l",
      "  #  Player       Played  Won  Drawn  Lost  Points  Rating    ±",
      "  1  Ann     P01       2    1      0     1       3    1479   99",
      "  2  Bob     P02       2    1      0     1       3    1521  100",
      "  ratings, not significant yet: Bob above Ann (70%)",
    ]);
    const equal = standingsTable("l", standings, ratings(false, 2, 0.5));
    expect(equal).toMatch(/ratings, not significant yet: Bob and Ann are equal$/);
  });

  it("says that every difference is significant, or that nothing is rated yet", () => {
    const lineOf = (document: RatingsDocument) => standingsTable("l", standings, document).split("\n").at(-1);
    expect(lineOf(ratings(true))).toBe("  ratings: every difference between neighbours is significant");
    expect(lineOf(ratings(false, 0))).toBe("  ratings: no match is rated yet");
  });
});

test("crosstableText shows the results of each pair in the order of the standings", () => {
  const counts = { played: 2, wins: 1, draws: 0, losses: 0, points: 4 };
  const standings = ["P02", "P01", "P03"].map((player_id, index) => ({
    rank: index + 1,
    player_id,
    display_name: `name ${player_id}`,
    ...counts,
  }));
  const match = (match_id: string, points: Readonly<Record<string, number>>, termination: "normal" | "forfeit") => {
    const [a = "", b = ""] = Object.keys(points);
    const result = { winner: null, points, termination, reason: "", referee_id: null };
    return { match_id, round_id: 1, roles: { x: a, y: b }, ...result };
  };
  const matches = [match("R1M1", { P01: 0, P02: 3 }, "normal"), match("R2M1", { P01: 3, P03: 0 }, "forfeit")];
  const league = { league_id: "l", game: "rps.v1", status: "completed", standings, matches };
  expect(crosstableText("l", league).split("\n")).toEqual([
    "l",
    "  #  Player         P02  P01  P03  Points",
    "  1  name P02  P02    *    1    .       4",
    "  2  name P01  P01    0    *    +       4",
    "  3  name P03  P03    .    -    *       4",
  ]);
});

test("progress at a terminal shows the missing players of a league until it starts", async () => {
  const { stream, drawn } = openTerminal();
  const progress = createProgress(stream, systemClock);
  const awaited = { present: 1, needed: 3, missing: ["Bob", "Cid"], isWithoutReferee: false };
  progress.event({ type: "league_waiting", league_id: "rps", awaited });
  await vi.waitFor(
    () => expect(drawn()).toMatch(/^rps +waits: 1 of 3 players are registered; missing: Bob and Cid$/m),
    WAIT_OPTIONS,
  );
  progress.event({ type: "league_started", league_id: "rps", game: "rps.v1", matches: 3 });
  await vi.waitFor(() => expect(drawn().split("\n").at(-2)).toMatch(/^rps +─+ 0\/3/), WAIT_OPTIONS);
  progress.end();
});
