import { describe, expect, test } from "vitest";
import type { StandingsRound } from "./history.ts";
import { foldStandings, type StandingsResult, tallyOf } from "./standings.ts";

const player = (player_id: string) => ({ player_id, display_name: `name of ${player_id}` });
const players = (...ids: string[]) => ids.map(player);

type Points = Readonly<Record<string, number>>;
const result = (points: Points, termination: StandingsResult["termination"] = "normal"): StandingsResult => ({
  points,
  termination,
});
const win = (winner: string, loser: string) => result({ [winner]: 3, [loser]: 0 });
const draw = (a: string, b: string) => result({ [a]: 1, [b]: 1 });

/** A round with these results. */
const roundOf = (roundId: number, results: readonly StandingsResult[]): StandingsRound => ({
  roundId,
  matches: results.map(({ points, termination }) => ({
    players: Object.keys(points),
    outcome: { points: Object.values(points), termination },
    logHead: "head",
  })),
  byes: [],
});

const order = (ids: string[], results: StandingsResult[]) =>
  foldStandings(players(...ids), results).map((row) => row.player_id);

describe("the points of a match", () => {
  test("are 3 for a win and 0 for a loss", () => {
    expect(foldStandings(players("P01", "P02"), [win("P02", "P01")])).toEqual([
      { rank: 1, ...player("P02"), played: 1, wins: 1, draws: 0, losses: 0, points: 3 },
      { rank: 2, ...player("P01"), played: 1, wins: 0, draws: 0, losses: 1, points: 0 },
    ]);
  });

  test("are 1 for each player of a draw", () => {
    expect(foldStandings(players("P01", "P02"), [draw("P02", "P01")])).toEqual([
      { rank: 1, ...player("P01"), played: 1, wins: 0, draws: 1, losses: 0, points: 1 },
      { rank: 1, ...player("P02"), played: 1, wins: 0, draws: 1, losses: 0, points: 1 },
    ]);
  });

  test("are added over all matches", () => {
    const results = [win("P01", "P02"), draw("P01", "P02"), win("P01", "P02"), win("P02", "P01")];
    expect(foldStandings(players("P01", "P02"), results)).toEqual([
      { rank: 1, ...player("P01"), played: 4, wins: 2, draws: 1, losses: 1, points: 7 },
      { rank: 2, ...player("P02"), played: 4, wins: 1, draws: 1, losses: 2, points: 4 },
    ]);
  });
});

describe("a match that is not played to its end", () => {
  test("gives 3 points to the opponent of the player that forfeits", () => {
    const rows = foldStandings(players("P01", "P02"), [result({ P01: 0, P02: 3 }, "forfeit")]);
    expect(rows.map(({ player_id, wins, losses, points }) => [player_id, wins, losses, points])).toEqual([
      ["P02", 1, 0, 3],
      ["P01", 0, 1, 0],
    ]);
  });

  test("is a loss for both players if both forfeit", () => {
    const rows = foldStandings(players("P01", "P02"), [result({ P01: 0, P02: 0 }, "forfeit")]);
    expect(rows.map(({ played, wins, draws, losses, points }) => [played, wins, draws, losses, points])).toEqual([
      [1, 0, 0, 1, 0],
      [1, 0, 0, 1, 0],
    ]);
  });

  test("is not counted as played if it is aborted", () => {
    const aborted = [result({ P01: 0, P02: 0 }, "aborted"), result({ P01: 3, P02: 0 }, "aborted")];
    const rows = foldStandings(players("P01", "P02"), aborted);
    expect(rows.map(({ played, losses, points }) => [played, losses, points])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });
});

describe("the order of the standings", () => {
  test("is by points first, descending", () => {
    expect(order(["P01", "P02", "P03"], [win("P03", "P01"), draw("P02", "P01")])).toEqual(["P03", "P01", "P02"]);
  });

  test("is by wins second, descending: one win is better than three draws", () => {
    const draws = [draw("P01", "P03"), draw("P01", "P04"), draw("P01", "P05")];
    expect(order(["P01", "P02", "P03", "P04", "P05"], [...draws, win("P02", "P03")]).slice(0, 2)).toEqual([
      "P02",
      "P01",
    ]);
  });

  test("is by draws third, descending: they are equal if points and wins are equal, so the rank is shared", () => {
    // Points are 3 wins + draws, so with equal points and wins the draws are also equal.
    const results = [draw("P01", "P02"), win("P01", "P02"), win("P02", "P01")];
    expect(foldStandings(players("P02", "P01"), results).map(({ rank }) => rank)).toEqual([1, 1]);
  });

  test("of players that share a rank is by player id, ascending, with numbers compared as numbers", () => {
    expect(order(["p1", "P100", "P99", "P10", "P2", "P1", "É", "Z"], [])).toEqual([
      "P1",
      "P2",
      "P10",
      "P99",
      "P100",
      "Z",
      "p1",
      "É",
    ]);
  });

  test("does not depend on losses: players with equal points and wins share a rank even if one has played more", () => {
    const results = [win("P01", "P03"), win("P02", "P03"), win("P03", "P01")];
    expect(foldStandings(players("P01", "P02", "P03"), results).map((row) => [row.player_id, row.rank])).toEqual([
      ["P01", 1],
      ["P02", 1],
      ["P03", 1],
    ]);
  });
});

describe("the rank", () => {
  test("is shared by players with equal points, wins and draws, and the next rank is skipped", () => {
    const results = [draw("P01", "P04"), win("P03", "P02")];
    const rows = foldStandings(players("P01", "P02", "P03", "P04", "P05"), results);
    expect(rows.map((row) => [row.player_id, row.rank])).toEqual([
      ["P03", 1],
      ["P01", 2],
      ["P04", 2],
      ["P02", 4],
      ["P05", 4],
    ]);
  });

  test("differs if a further tie-break differs, whose values are a column", () => {
    const rules = { tieBreaks: ["head-to-head"], byePoints: 0 } as const;
    const two = [win("P02", "P01"), win("P01", "P03")];
    const rows = tallyOf([roundOf(1, two)]).standings(players("P01", "P02", "P03"), {
      rules,
      rounds: () => [roundOf(1, two)],
    });
    expect(rows.map((row) => [row.player_id, row.rank, row.tie_breaks])).toEqual([
      ["P02", 1, { "head-to-head": 3 }],
      ["P01", 2, { "head-to-head": 0 }],
      ["P03", 3, { "head-to-head": null }],
    ]);
    const cycle = [roundOf(1, [win("P01", "P02"), win("P02", "P03"), win("P03", "P01")])];
    const cyclic = tallyOf(cycle).standings(players("P01", "P02", "P03"), { rules, rounds: () => cycle });
    expect(cyclic.map(({ rank }) => rank)).toEqual([1, 1, 1]);
  });

  test("follows the ranking of the format, which takes precedence over points", () => {
    const tally = tallyOf([roundOf(1, [win("P01", "P02"), win("P01", "P03"), win("P04", "P01")])]);
    const ranking = [["P04"], ["P01"], ["P03", "P02"]];
    const rows = tally.standings(players("P01", "P02", "P03", "P04", "P05"), { ranking });
    expect(rows.map((row) => [row.player_id, row.rank, row.points])).toEqual([
      ["P04", 1, 3],
      ["P01", 2, 6],
      ["P02", 3, 0],
      ["P03", 3, 0],
      ["P05", 5, 0],
    ]);
  });
});

describe("a bye", () => {
  const byes = { roundId: 1, matches: [], byes: ["P02"] };

  test("has a column as soon as a player has had one, and gives the points of the format", () => {
    const context = { rules: { tieBreaks: ["points"], byePoints: 3 } } as const;
    const rows = tallyOf([byes]).standings(players("P01", "P02"), context);
    expect(rows).toEqual([
      { rank: 1, ...player("P02"), played: 0, wins: 0, draws: 0, losses: 0, byes: 1, points: 3 },
      { rank: 2, ...player("P01"), played: 0, wins: 0, draws: 0, losses: 0, byes: 0, points: 0 },
    ]);
    expect(tallyOf([]).standings(players("P01"), context)[0]).not.toHaveProperty("byes");
  });

  test("gives no points in a round robin", () => {
    const rows = tallyOf([byes]).standings(players("P01", "P02"));
    expect(rows.map(({ rank, points }) => [rank, points])).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });
});

describe("the rows of the standings", () => {
  test("include every listed player before the first match, and are empty without players", () => {
    expect(foldStandings(players("P01"), [])).toEqual([
      { rank: 1, ...player("P01"), played: 0, wins: 0, draws: 0, losses: 0, points: 0 },
    ]);
    expect(foldStandings([], [])).toEqual([]);
  });

  test("do not include an unlisted player, whose opponent keeps the result", () => {
    const rows = foldStandings(players("P01"), [win("P01", "P99")]);
    expect(rows).toEqual([{ rank: 1, ...player("P01"), played: 1, wins: 1, draws: 0, losses: 0, points: 3 }]);
  });

  test("do not depend on the order of players and results, whose lists are not changed", () => {
    const results = [win("P01", "P02"), draw("P02", "P03"), win("P03", "P01")];
    const listed = Object.freeze(players("P01", "P02", "P03"));
    const reversed = foldStandings(listed.toReversed(), results.toReversed());
    expect(reversed).toEqual(foldStandings(listed, Object.freeze(results)));
  });

  test("cannot be computed from points other than 3, 1 and 0", () => {
    expect(() => foldStandings(players("P01", "P02"), [result({ P01: 2, P02: 0 })])).toThrow(/3, 1 or 0/);
  });
});
