import { describe, expect, test } from "vitest";
import { foldStandings, type StandingsResult } from "./standings.ts";

const player = (player_id: string) => ({ player_id, display_name: `name of ${player_id}` });
const players = (...ids: string[]) => ids.map(player);

type Points = Readonly<Record<string, number>>;
const result = (points: Points, termination: StandingsResult["termination"] = "normal"): StandingsResult => ({
  points,
  termination,
});
const win = (winner: string, loser: string) => result({ [winner]: 3, [loser]: 0 });
const draw = (a: string, b: string) => result({ [a]: 1, [b]: 1 });

const order = (ids: string[], results: StandingsResult[]) =>
  foldStandings(players(...ids), results).map((row) => row.player_id);

describe("the points of a match", () => {
  test("a win is 3 points, a loss 0", () => {
    expect(foldStandings(players("P01", "P02"), [win("P02", "P01")])).toEqual([
      { rank: 1, ...player("P02"), played: 1, wins: 1, draws: 0, losses: 0, points: 3 },
      { rank: 2, ...player("P01"), played: 1, wins: 0, draws: 0, losses: 1, points: 0 },
    ]);
  });

  test("a draw is 1 point for both", () => {
    expect(foldStandings(players("P01", "P02"), [draw("P02", "P01")])).toEqual([
      { rank: 1, ...player("P01"), played: 1, wins: 0, draws: 1, losses: 0, points: 1 },
      { rank: 2, ...player("P02"), played: 1, wins: 0, draws: 1, losses: 0, points: 1 },
    ]);
  });

  test("points add up over matches", () => {
    const results = [win("P01", "P02"), draw("P01", "P02"), win("P01", "P02"), win("P02", "P01")];
    expect(foldStandings(players("P01", "P02"), results)).toEqual([
      { rank: 1, ...player("P01"), played: 4, wins: 2, draws: 1, losses: 1, points: 7 },
      { rank: 2, ...player("P02"), played: 4, wins: 1, draws: 1, losses: 2, points: 4 },
    ]);
  });
});

describe("PROTOCOL.md, section 2, faults", () => {
  test("a forfeit is 3 points to the other", () => {
    const rows = foldStandings(players("P01", "P02"), [result({ P01: 0, P02: 3 }, "forfeit")]);
    expect(rows.map(({ player_id, wins, losses, points }) => [player_id, wins, losses, points])).toEqual([
      ["P02", 1, 0, 3],
      ["P01", 0, 1, 0],
    ]);
  });

  test("both at fault in one turn is 0 and 0, a loss for both", () => {
    const rows = foldStandings(players("P01", "P02"), [result({ P01: 0, P02: 0 }, "forfeit")]);
    expect(rows.map(({ played, wins, draws, losses, points }) => [played, wins, draws, losses, points])).toEqual([
      [1, 0, 0, 1, 0],
      [1, 0, 0, 1, 0],
    ]);
  });

  test("an aborted match is not counted as played", () => {
    const aborted = [result({ P01: 0, P02: 0 }, "aborted"), result({ P01: 3, P02: 0 }, "aborted")];
    const rows = foldStandings(players("P01", "P02"), aborted);
    expect(rows.map(({ played, losses, points }) => [played, losses, points])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });
});

describe("the order of the standings", () => {
  test("sorted by 1. points, descending", () => {
    expect(order(["P01", "P02", "P03"], [win("P03", "P01"), draw("P02", "P01")])).toEqual(["P03", "P01", "P02"]);
  });

  test("then by 2. wins, descending: one win goes before three draws", () => {
    const draws = [draw("P01", "P03"), draw("P01", "P04"), draw("P01", "P05")];
    expect(order(["P01", "P02", "P03", "P04", "P05"], [...draws, win("P02", "P03")]).slice(0, 2)).toEqual([
      "P02",
      "P01",
    ]);
  });

  test("then by 3. draws, descending: they are equal when points and wins are equal, so the id decides", () => {
    // points = 3 wins + draws: with equal points and wins the draws are equal too.
    expect(order(["P02", "P01"], [draw("P01", "P02"), win("P01", "P02"), win("P02", "P01")])).toEqual(["P01", "P02"]);
  });

  test("then by 4. player id, ascending, numbers as numbers", () => {
    expect(order(["p1", "P100", "P99", "P10", "P2", "P1", "É", "Z"], [])).toEqual([
      ...["P1", "P2", "P10", "P99", "P100", "Z", "p1", "É"],
    ]);
  });

  test("losses do not count: players with equal points and wins are ordered by id, also if one played more", () => {
    expect(order(["P01", "P02", "P03"], [win("P01", "P03"), win("P02", "P03"), win("P03", "P01")])).toEqual([
      "P01",
      "P02",
      "P03",
    ]);
  });

  test("ranks run from 1 and are distinct, ties or not", () => {
    const rows = foldStandings(players("P03", "P01", "P02"), [draw("P01", "P02")]);
    expect(rows.map((row) => row.rank)).toEqual([1, 2, 3]);
  });
});

describe("the rows of the standings", () => {
  test("every listed player has a row before the first match; without players the table is empty", () => {
    expect(foldStandings(players("P01"), [])).toEqual([
      { rank: 1, ...player("P01"), played: 0, wins: 0, draws: 0, losses: 0, points: 0 },
    ]);
    expect(foldStandings([], [])).toEqual([]);
  });

  test("a player who is not listed has no row, and the opponent keeps the result", () => {
    const rows = foldStandings(players("P01"), [win("P01", "P99")]);
    expect(rows).toEqual([{ rank: 1, ...player("P01"), played: 1, wins: 1, draws: 0, losses: 0, points: 3 }]);
  });

  test("the order of players and results does not matter, and neither list is changed", () => {
    const results = [win("P01", "P02"), draw("P02", "P03"), win("P03", "P01")];
    const listed = Object.freeze(players("P01", "P02", "P03"));
    const turned = foldStandings(listed.toReversed(), results.toReversed());
    expect(turned).toEqual(foldStandings(listed, Object.freeze(results)));
  });

  test("points that are not a result throw", () => {
    expect(() => foldStandings(players("P01", "P02"), [result({ P01: 2, P02: 0 })])).toThrow(/3, 1 or 0/);
  });
});
