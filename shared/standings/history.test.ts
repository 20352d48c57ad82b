import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { historyOf, type StandingsMatch, type StandingsRound } from "./history.ts";
import { ROUND_ROBIN_RULES, type StandingsRules, tallyOf } from "./standings.ts";
import { isTieBreakId, TIE_BREAK_IDS, TIE_BREAKS, type TieBreakId, tieBreakOf } from "./tie-breaks.ts";

const match = (players: readonly string[], points: readonly number[], logHead = "head"): StandingsMatch => ({
  players,
  outcome: { points, termination: points.length === 0 ? "aborted" : logHead === "" ? "forfeit" : "normal" },
  logHead,
});
const forfeit = (players: readonly string[], points: readonly number[]) => match(players, points, "");
const round = (roundId: number, matches: readonly StandingsMatch[], byes: readonly string[] = []): StandingsRound => ({
  roundId,
  matches,
  byes,
});

const SWISS = { byePoints: 3 };
const value = (id: TieBreakId, playerId: string, history: ReturnType<typeof historyOf>): number => {
  const { compute } = tieBreakOf(id);
  const player = history.players.get(playerId);
  if (compute.from !== "player" || !player) throw new Error("no such value");
  return compute.value(player, history);
};

describe("in a format whose byes give points", () => {
  test("a bye counts as a won match against an opponent with the points of the player", () => {
    const rounds = [round(1, [match(["A", "B"], [3, 0])], ["C"]), round(2, [match(["C", "A"], [3, 0])], ["B"])];
    const history = historyOf(["A", "B", "C"], rounds, SWISS);
    expect(history.players.get("C")?.points).toBe(6);
    expect(value("buchholz", "C", history)).toBe(6 + 3);
    expect(value("sonneborn-berger", "C", history)).toBe(6 + 3);
  });

  test("a forfeit without a played match counts for the winner as a bye, and for the loser as a round that it missed", () => {
    const rounds = [round(1, [match(["A", "B"], [3, 0]), match(["C", "D"], [0, 3])])];
    const later = round(2, [forfeit(["A", "D"], [3, 0]), match(["B", "C"], [1, 1])]);
    const history = historyOf(["A", "B", "C", "D"], [...rounds, later], SWISS);
    expect(history.players.get("D")).toMatchObject({ points: 3, adjustedPoints: 4 });
    expect(value("buchholz", "A", history)).toBe(1 + 6);
    expect(value("buchholz", "C", history)).toBe(4 + 1);
  });

  test("a match that was forfeited while it was played counts as a played match", () => {
    const lost = { ...match(["A", "B"], [3, 0]), outcome: { points: [3, 0], termination: "forfeit" as const } };
    const history = historyOf(["A", "B"], [round(1, [lost])], SWISS);
    expect(history.players.get("B")).toMatchObject({ points: 0, adjustedPoints: 0 });
    expect(value("buchholz", "A", history)).toBe(0);
  });

  test("the rounds after the last one of a player that has left count as draws for its opponents", () => {
    const rounds = [round(1, [match(["A", "B"], [3, 0])]), round(2, [match(["A", "C"], [3, 0])])];
    const history = historyOf(["A", "B", "C"], rounds, SWISS);
    expect(history.players.get("B")).toMatchObject({ points: 0, adjustedPoints: 1 });
    expect(value("buchholz", "A", history)).toBe(1 + 0);
    expect(value("buchholz-cut-1", "B", history)).toBe(6); // the round that B missed is left out first
  });

  test("aborted and open matches count nothing, and are not rounds that the players missed", () => {
    const open = { players: ["A", "C"], outcome: null, logHead: null };
    const history = historyOf(["A", "B", "C"], [round(1, [match(["A", "B"], [])], ["C"]), round(2, [open])], SWISS);
    expect(history.players.get("A")?.entries).toEqual([]);
    expect(history.players.get("B")?.entries).toMatchObject([{ roundId: 2, isVoluntary: true }]);
  });
});

describe("in a round robin", () => {
  test("a bye counts nothing, and a forfeited match counts like a played one", () => {
    const history = historyOf(["A", "B", "C"], [round(1, [forfeit(["A", "B"], [3, 0])], ["C"])], ROUND_ROBIN_RULES);
    expect(value("buchholz", "B", history)).toBe(3);
    expect(value("buchholz", "C", history)).toBe(0);
    expect(value("second-role-matches", "B", history)).toBe(1);
  });
});

test("the members of a team are not opponents", () => {
  const rules = { byePoints: 0, teams: [0, 0, 1, 1] };
  const history = historyOf(["A", "B", "C", "D"], [round(1, [match(["A", "B", "C", "D"], [3, 3, 0, 0])])], rules);
  expect(history.players.get("A")?.entries[0]?.opponents).toEqual(["C", "D"]);
  expect(value("buchholz", "C", history)).toBe(6);
});

describe("for any results", () => {
  const IDS = ["P01", "P02", "P03", "P04", "P05", "P06"];
  const anyMatch = fc
    .tuple(
      fc.shuffledSubarray(IDS, { minLength: 2, maxLength: 2 }),
      fc.constantFrom([3, 0], [0, 3], [1, 1], [0, 0], []),
    )
    .chain(([players, points]) => fc.constantFrom("head", "").map((head) => match(players, points, head)));
  const rounds = fc
    .array(fc.tuple(fc.array(anyMatch, { maxLength: 3 }), fc.subarray(IDS, { maxLength: 2 })), { maxLength: 5 })
    .map((list) => list.map(([matches, byes], index) => round(index + 1, matches, byes)));
  const rules = fc.record({
    tieBreaks: fc.shuffledSubarray([...TIE_BREAK_IDS]),
    byePoints: fc.constantFrom(0, 3),
  }) satisfies fc.Arbitrary<StandingsRules>;
  const players = IDS.map((id) => ({ player_id: id, display_name: id }));

  test("ranks are shared exactly by the players whose values are all equal, and do not depend on the order of the input", () => {
    fc.assert(
      fc.property(rounds, rules, (list, by) => {
        const rows = tallyOf(list).standings(players, { rules: by, rounds: () => list });
        expect(rows.map(({ player_id }) => player_id).toSorted()).toEqual(IDS);
        for (const [index, row] of rows.entries()) {
          const above = rows[index - 1];
          if (!above) {
            expect(row.rank).toBe(1);
            continue;
          }
          const key = ({ points, wins, draws, tie_breaks = {} }: typeof row) =>
            JSON.stringify([
              points,
              ...by.tieBreaks.map((id) => ({ ...tie_breaks, points, wins, draws })[id as "points"]),
            ]);
          if (key(row) === key(above)) {
            expect(row.rank).toBe(above.rank);
            expect(row.player_id > above.player_id).toBe(true);
          } else expect(row.rank).toBe(index + 1);
        }
        const reversed = tallyOf(list).standings(players.toReversed(), { rules: by, rounds: () => list });
        expect(reversed).toEqual(rows);
      }),
    );
  });

  test("the points of the history are those of the standings", () => {
    fc.assert(
      fc.property(rounds, fc.constantFrom(0, 3), (list, byePoints) => {
        const by = { tieBreaks: ["points"], byePoints } as const;
        const history = historyOf(IDS, list, by);
        for (const { player_id, points } of tallyOf(list).standings(players, { rules: by })) {
          expect(history.players.get(player_id)?.points).toBe(points);
        }
      }),
    );
  });

  test("no cut raises Buchholz, and Sonneborn-Berger is at most Buchholz", () => {
    fc.assert(
      fc.property(rounds, fc.constantFrom(0, 3), (list, byePoints) => {
        const history = historyOf(IDS, list, { byePoints });
        for (const id of IDS) {
          const [all, cut, median] = (["buchholz", "buchholz-cut-1", "median-buchholz"] as const).map((tieBreak) =>
            value(tieBreak, id, history),
          ) as [number, number, number];
          expect(all >= cut && cut >= median && median >= 0).toBe(true);
          expect(value("sonneborn-berger", id, history)).toBeLessThanOrEqual(all);
        }
      }),
    );
  });
});

test("only ids of the table are tie-breaks, and headings fit a column", () => {
  expect(isTieBreakId("buchholz")).toBe(true);
  expect(isTieBreakId("toString")).toBe(false);
  expect(Object.values(TIE_BREAKS).filter(({ heading }) => heading.length > 8)).toEqual([]);
});
