import { describe, expect, test } from "vitest";
import { SharedList } from "#shared/lib/list.ts";
import type { Format, FormatRound, LeagueView, Next } from "./format.ts";
import { gauntlet } from "./gauntlet.ts";
import { matchFormat } from "./match-format.ts";
import { keepPairs } from "./pair-series.ts";
import { sprt } from "./sprt-format.ts";
import { playLeague } from "./testing/play-league.ts";

const players = (ids: string) => [...ids].map((playerId) => ({ playerId, enteredAfter: 0, hasLeft: false }));
const leagueOf = (ids: string, rounds: readonly FormatRound[] = [], roleCount = 2): LeagueView => ({
  seed: "s",
  roleCount,
  players: players(ids),
  rounds,
});
const pairings = (next: Next): readonly string[] =>
  typeof next === "string" ? [next] : next.rounds.map((round) => round.pairings.map((one) => one.join("")).join(" "));

/** All rounds of a league in which every match is a draw. */
function allRounds(format: Format, options: object, playerCount: number, roleCount = 2): readonly FormatRound[] {
  const league = { format, options: format.options.parse(options), playerCount, roleCount, slots: 4, seed: "s" };
  const play = (seats: readonly string[]) => seats.map(() => 1);
  return (
    playLeague({ ...league, disturbances: {}, play })
      .at(-1)
      ?.view.rounds.slice() ?? []
  );
}

describe("a match", () => {
  test("of two players has rounds of two matches with swapped roles, as many as there are free slots", () => {
    const options = matchFormat.options.parse({ games: 5 });
    expect(pairings(matchFormat.next(leagueOf("AB"), 4, options))).toEqual(["AB BA", "AB BA"]);
    expect(pairings(matchFormat.next(leagueOf("AB"), 99, options))).toEqual(["AB BA", "AB BA", "AB"]);
    expect(matchFormat.next(leagueOf("AB"), 0, options)).toBe("wait");
    const started = { ...leagueOf("AB"), rounds: SharedList.of([pairRound(3, 0, 0)]) };
    for (let times = 0; times < 2; times++)
      expect(pairings(matchFormat.next(started, 99, options))).toEqual(["AB BA", "AB"]);
    expect([leagueOf("AB"), started, leagueOf("ABC")].map((league) => matchFormat.remaining(league, options))).toEqual([
      5, 3, 15,
    ]);
  });

  test("of three players is played by all pairs in turn", () => {
    const options = matchFormat.options.parse({ games: 2 });
    expect(pairings(matchFormat.next(leagueOf("ABC"), 99, options))).toEqual(["AB BA", "CA AC", "BC CB"]);
  });

  test("of a game of more roles has rounds of as many matches as there are free slots, at least", () => {
    const options = matchFormat.options.parse({ games: 4 });
    const league = leagueOf("ABCDEFG", [], 3);
    const nextRounds = (slots: number, view = league) => {
      const next = matchFormat.next(view, slots, options);
      return typeof next === "string" ? next : next.rounds.map(({ pairings, byes }) => [pairings.length, byes.length]);
    };
    expect(nextRounds(0)).toBe("wait");
    expect([1, 2, 3, 99].map((slots) => nextRounds(slots).length)).toEqual([1, 1, 2, 4]);
    expect(nextRounds(2)).toEqual([[2, 1]]);
    const open = ["ABC", "DEF"].map((seats, index) => ({
      matchId: `R1M${index + 1}`,
      players: [...seats],
      outcome: null,
    }));
    const started = leagueOf("ABCDEFG", [{ roundId: 1, matches: open, byes: ["G"] }], 3);
    expect([matchFormat.remaining(league, options), matchFormat.remaining(started, options)]).toEqual([8, 8]);
    expect(nextRounds(99, started)).toHaveLength(3);
    expect(nextRounds(99, leagueOf("AB", [], 3))).toBe("completed");
  });

  test("of a game of more roles gives each player each role in turn", () => {
    const rounds = allRounds(matchFormat, { games: 6 }, 3, 3).map(({ matches }) => matches[0]?.players.join(" "));
    expect(rounds).toEqual([...rounds.slice(0, 3), ...rounds.slice(0, 3)]);
    expect(new Set(rounds.map((seats) => seats?.slice(0, 4))).size).toBe(3);
  });
});

describe("a gauntlet", () => {
  test("pairs the first seed with every other player, with alternating roles", () => {
    const rounds = allRounds(gauntlet, { games: 2 }, 4);
    const played = rounds.map(({ matches }) => matches.map((match) => match.players.join("-")).join(" "));
    expect(played).toEqual(["P001-P002 P002-P001", "P003-P001 P001-P003", "P001-P004 P004-P001"]);
  });

  test("has the champion of its options, and ends when the champion leaves", () => {
    const options = gauntlet.options.parse({ champion: "B" });
    expect(["Bob", ""].map((champion) => gauntlet.options.safeParse({ champion }).success)).toEqual([true, false]);
    const league = leagueOf("ABC");
    expect(pairings(gauntlet.next(league, 1, options))).toEqual(["BA AB"]);
    const left = league.players.map((player) => ({ ...player, hasLeft: player.playerId === "B" }));
    expect(gauntlet.next({ ...league, players: left }, 1, options)).toBe("completed");
    const round = { roundId: 1, byes: [], matches: [{ matchId: "R1M1", players: ["A", "C"], outcome: null }] };
    expect(gauntlet.remaining(leagueOf("ABC", [round]), options)).toBe(5);
  });
});

/** A round of an SPRT: A plays B twice, with swapped roles, and has these points. Null is an open match. */
const pairRound = (first: number | null, second: number | null, index: number): FormatRound => ({
  roundId: index + 1,
  byes: [],
  matches: [first, second].map((points, leg) => {
    const ofBoth = points === null ? [] : [points, points === 1 ? 1 : 3 - points];
    return {
      matchId: `R${index + 1}M${leg + 1}`,
      players: leg === 0 ? ["A", "B"] : ["B", "A"],
      outcome:
        points === null
          ? null
          : { points: leg === 0 ? ofBoth : ofBoth.toReversed(), scores: [], termination: "normal" },
    };
  }),
});

describe("an SPRT", () => {
  const options = sprt.options.parse({ elo0: 0, elo1: 50 });
  const resultOf = (league: LeagueView, ofTest = options) => sprt.result?.(league, ofTest, (id) => `Player ${id}`);

  test("counts pairs of matches by the points of the first player", () => {
    const rounds = (
      [
        [0, 0],
        [0, 1],
        [3, 0],
        [1, 1],
        [3, 1],
        [3, 3],
        [3, null],
      ] as const
    ).map(([first, second], index) => pairRound(first, second, index));
    expect(resultOf(leagueOf("AB", rounds))?.pairs).toEqual([1, 1, 2, 1, 1]);
  });

  test("does not count aborted matches and double forfeits", () => {
    const [round] = [pairRound(3, 3, 0)];
    const withOutcome = (points: readonly number[]): FormatRound => ({
      ...round,
      matches: round.matches.map((match, leg) =>
        leg === 0 ? { ...match, outcome: { points, scores: [], termination: "forfeit" } } : match,
      ),
    });
    const league = leagueOf("AB", [withOutcome([]), withOutcome([0, 0])]);
    expect(resultOf(league)?.pairs).toEqual([0, 0, 0, 0, 0]);
  });

  test("ends with a decision although matches are open", () => {
    const won = Array.from({ length: 40 }, (_, index) => pairRound(3, index % 3 === 0 ? 1 : 3, index));
    const league = leagueOf("AB", [...won, pairRound(null, null, won.length)]);
    expect(sprt.next(league, 4, options)).toBe("completed");
    expect(sprt.remaining(league, options)).toBe(2);
  });

  test("goes on while the test is not decided, and ends after max_games matches", () => {
    const rounds = Array.from({ length: 3 }, (_, index) => pairRound(3, 0, index));
    const league = leagueOf("AB", rounds);
    expect(pairings(sprt.next(league, 2, options))).toEqual(["AB BA"]);
    expect(sprt.next(league, 2, sprt.options.parse({ max_games: 6 }))).toBe("completed");
    expect(sprt.remaining(league, sprt.options.parse({ max_games: 10 }))).toBe(4);
    expect(pairings(sprt.next(league, 9, sprt.options.parse({ max_games: 9 })))).toEqual(["AB BA", "AB"]);
    const open = leagueOf("AB", [...rounds, pairRound(3, null, 3)]);
    expect(pairings(sprt.next(open, 2, options))).toEqual(["AB BA"]);
    expect(sprt.takesLateEntries?.(options, 2)).toBe(false);
    expect(sprt.next(open, 2, sprt.options.parse({ max_games: 8 }))).toBe("wait");
    const left = open.players.map((player) => ({ ...player, hasLeft: player.playerId === "A" }));
    expect(sprt.next({ ...open, players: left }, 2, options)).toBe("completed");
    expect(sprt.remaining({ ...open, players: left }, options)).toBe(1);
  });

  const pairsOf = (count: number, first: number, second: number) =>
    Array.from({ length: count }, (_, index) => pairRound(first, second, index));

  test("states an accepted hypothesis with the names of the players, the ratio and its bounds", () => {
    const better = resultOf(leagueOf("AB", pairsOf(40, 3, 1)));
    expect(better).toMatchObject({ state: "H1", lower: -2.9444, upper: 2.9444, pairs: [0, 0, 0, 40, 0] });
    expect(better?.text).toBe(
      `H1 accepted: Player A is better than Player B: SPRT ${better?.llr.toFixed(2)} (-2.94, 2.94) after 40 pairs of matches`,
    );
    const worse = resultOf(leagueOf("AB", pairsOf(40, 1, 0)));
    expect(worse?.text).toMatch(/^H0 accepted: Player A is not 50 Elo better than Player B: SPRT -/);
  });

  test("tells a test that goes on from one that ended without a decision", () => {
    const league = leagueOf("AB", pairsOf(1, 3, 1));
    const [open, ended] = [sprt.options.parse({}), sprt.options.parse({ max_games: 2 })];
    expect(resultOf(league, open)).toMatchObject({
      state: "continue",
      text: expect.stringMatching(/^not decided yet if Player A is better than Player B: /),
    });
    expect(resultOf(league, ended)?.text).toMatch(
      /^ended without a decision if Player A is better than Player B: SPRT 0\.\d\d \(-2\.94, 2\.94\) after 1 pair of matches$/,
    );
    const left = league.players.map((player) => ({ ...player, hasLeft: player.playerId === "A" }));
    expect(resultOf({ ...league, players: left }, open)?.text).toMatch(/^ended without a decision/);
    expect(resultOf({ ...league, isEnded: true }, open)?.text).toMatch(/^ended without a decision/);
  });

  test("rejects hypotheses in the wrong order", () => {
    expect(sprt.options.safeParse({ elo0: 5, elo1: 5 }).success).toBe(false);
  });
});

test("the pairs of a series are kept until a player or what they depend on changes", () => {
  const made: string[] = [];
  const pairsOf = keepPairs((_view, option: string | undefined) => {
    made.push(String(option));
    return [];
  });
  const view = leagueOf("AB");
  for (const option of [undefined, undefined, "A", "A", undefined]) pairsOf(view, option);
  pairsOf({ ...view, rounds: [] }, undefined);
  expect(made).toEqual(["undefined", "A", "undefined"]);
  pairsOf(leagueOf("AB"), undefined);
  expect(made).toHaveLength(4);
});
