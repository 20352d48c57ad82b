import { expect, test } from "vitest";
import type { Match, Outcome, Round } from "../../league-manager/league/league.ts";
import { abortedOutcome, CANCELLED } from "../../league-manager/league/outcome.ts";
import { comparisonOf, scoresOf } from "./comparison.ts";

const NORMAL = { winner: null, scores: [], termination: "normal", reason: "", faults: [] } as const;
const won = (points: readonly number[]): Outcome => ({ ...NORMAL, points });
const WIN = won([3, 0]);
const LOSS = won([0, 3]);
const DRAW = won([1, 1]);

const forfeited = (points: readonly number[], faults: readonly (readonly [string, string])[]): Outcome => ({
  ...won(points),
  termination: "forfeit",
  faults: faults.map(([player_id, cause]) => ({ player_id, role: "", cause, detail: "" })) as Outcome["faults"],
});

/** A round of games of two players, whose roles alternate. The outcomes are by role. */
const round = (roundId: number, players: readonly [string, string], outcomes: readonly (Outcome | null)[]): Round => ({
  roundId,
  label: null,
  byes: [],
  open: 0,
  isOpened: true,
  openedAt: null,
  isExpired: false,
  isAnnounced: false,
  matches: outcomes.map((outcome, index) => ({
    ...({ matchId: `R${roundId}M${index + 1}`, roundId, status: "completed", epoch: 1, refereeId: null } as Match),
    players: index % 2 === 0 ? players : players.toReversed(),
    outcome,
  })),
});

test("wins, draws and losses are those of the first player in both roles", () => {
  const rounds = [
    round(1, ["A", "B"], [WIN, WIN]),
    round(2, ["A", "B"], [DRAW, LOSS]),
    round(3, ["A", "B"], [LOSS, null]),
  ];
  const [score] = scoresOf(rounds, ["A", "B"]);
  expect(score).toMatchObject({ players: ["A", "B"], wins: 2, draws: 1, losses: 2 });
});

test("a pair counts when both of its games are over", () => {
  const rounds = [
    round(1, ["A", "B"], [WIN, LOSS]), // A has won both
    round(2, ["A", "B"], [DRAW, LOSS]),
    round(3, ["A", "B"], [WIN, WIN]),
    round(4, ["A", "B"], [LOSS, WIN]),
    round(5, ["A", "B"], [WIN, null]),
    round(6, ["A", "B"], [WIN, abortedOutcome("")]),
  ];
  expect(scoresOf(rounds, ["A", "B"])[0]?.pairs).toEqual([1, 0, 1, 1, 1]);
});

test("forfeits are counted by player and cause; aborted games are counted apart", () => {
  const both = forfeited(
    [0, 0],
    [
      ["A", "timeout"],
      ["B", "illegal_move"],
    ],
  );
  const rounds = [
    round(1, ["A", "B"], [forfeited([0, 3], [["A", "timeout"]]), both]),
    round(2, ["A", "B"], [abortedOutcome("the game failed"), abortedOutcome(CANCELLED)]),
  ];
  expect(scoresOf(rounds, ["A", "B"])[0]).toMatchObject({
    wins: 0,
    draws: 0,
    losses: 1,
    bothForfeited: 1,
    aborted: 1,
    forfeits: [{ timeout: 2 }, { illegal_move: 1 }],
    pairs: [0, 0, 0, 0, 0],
  });
});

test("every two of several players have a score, also before they meet", () => {
  const rounds = [round(1, ["C", "A"], [WIN, DRAW])];
  const scores = scoresOf(rounds, ["A", "B", "C"]);
  expect(scores.map(({ players, wins, draws, losses }) => [...players, wins, draws, losses])).toEqual([
    ["A", "B", 0, 0, 0],
    ["A", "C", 0, 1, 1],
    ["B", "C", 0, 0, 0],
  ]);
});

test("the statistics count pairs of games if they share an opening, and single games otherwise", () => {
  // Each player wins with the first role: pairs are equal, single games are not.
  const rounds = Array.from({ length: 50 }, (_, index) => round(index + 1, ["A", "B"], [WIN, WIN]));
  const [score] = scoresOf(rounds, ["A", "B"]);
  const byGames = score && comparisonOf(score, false, null).strength;
  const byPairs = score && comparisonOf(score, true, null).strength;
  expect([byGames?.games, byPairs?.games, byPairs?.percent.value]).toEqual([100, 100, 50]);
  expect(byPairs?.percent.error).toBeLessThan((byGames?.percent.error ?? 0) / 2);
});
