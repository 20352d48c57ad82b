import { describe, expect, test } from "vitest";
import type { LeagueView, NewRound } from "./format.ts";
import { findFormat, formatIds } from "./registry.ts";
import { roundRobin, roundRobinFormat } from "./round-robin.ts";

const PLAYERS = ["A", "B", "C", "D"];
const options = (more: object = {}) => roundRobinFormat.options.parse(more);

/** A league with these rounds, of which the first `completed` are completed. */
const leagueOf = (rounds: readonly NewRound[], completed: number, players = PLAYERS, late = 0): LeagueView => ({
  seed: "s",
  roleCount: 2,
  players: players.map((playerId, index) => ({
    playerId,
    enteredAfter: index < players.length - late ? 0 : rounds.length,
    hasLeft: false,
  })),
  rounds: rounds.map(({ pairings, byes }, index) => ({
    roundId: index + 1,
    byes,
    matches: pairings.map((seats, position) => ({
      matchId: `R${index + 1}M${position + 1}`,
      players: seats,
      outcome: index < completed ? { points: [1, 1], scores: [0, 0], termination: "normal" } : null,
    })),
  })),
});

describe("the round robin format", () => {
  test("is in the registry by its id", () => {
    expect(findFormat("round-robin")).toBe(roundRobinFormat);
    expect(formatIds).toContain("round-robin");
    expect(findFormat("Round-Robin")).toBeNull();
  });

  test("counts the rounds of all cycles as soon as cycles is raised, before they are paired", () => {
    const one = roundRobin(PLAYERS, 2);
    const planned = (rounds: readonly NewRound[], completed: number, cycles: number) =>
      roundRobinFormat.plannedRounds?.(leagueOf(rounds, completed), options({ cycles }));
    expect(planned([], 0, 2)).toBe(6);
    expect(planned(one, 2, 1)).toBe(3);
    expect(planned(one, 2, 4)).toBe(12);
    expect(planned([...one, ...one], 3, 4)).toBe(12);
  });

  test("returns the schedule of one cycle at the start and no more rounds", () => {
    expect(roundRobinFormat.next(leagueOf([], 0), 9, options())).toEqual({ rounds: roundRobin(PLAYERS, 2) });
    expect(roundRobinFormat.next(leagueOf(roundRobin(PLAYERS, 2), 0), 9, options())).toBe("completed");
  });

  test("swaps the roles of two-player games in the second cycle", () => {
    const first = roundRobin(PLAYERS, 2);
    const second = first.map(({ pairings, byes }) => ({ pairings: pairings.map((pair) => pair.toReversed()), byes }));
    expect(roundRobinFormat.next(leagueOf([], 0), 9, options({ cycles: 3 }))).toEqual({
      rounds: [...first, ...second, ...first],
    });
  });

  test("of a game of more roles rotates the roles in the second cycle, which may be added later", () => {
    const cycle = roundRobin(PLAYERS, 3);
    const next = { pairings: [["B", "C", "A"]], byes: ["D"] };
    const started = { ...leagueOf(cycle, 1), roleCount: 3 };
    expect(cycle[0]).toEqual({ pairings: [["A", "B", "C"]], byes: ["D"] });
    expect(roundRobinFormat.next(started, 9, options())).toBe("completed");
    const further = roundRobinFormat.next(started, 9, options({ cycles: 2 }));
    expect(typeof further === "object" && [further.rounds.length, further.rounds[0]]).toEqual([4, next]);
    expect(roundRobinFormat.plannedRounds?.(started, options({ cycles: 2 }))).toBe(8);
    expect(roundRobinFormat.remaining(started, options({ cycles: 2 }))).toBe(7);
    const players = started.players.map((player, index) => ({ ...player, hasLeft: index < 2 }));
    expect(roundRobinFormat.next({ ...started, players }, 9, options({ cycles: 2 }))).toBe("completed");
  });

  test("adds a cycle as long as two players, or a player of a game of more roles, have not played it", () => {
    const added = (cycle: readonly NewRound[], count: number, ...pairings: string[][]) =>
      leagueOf([...cycle, ...Array.from({ length: count }, () => ({ pairings, byes: [] }))], 9);
    const roundsAfter = (view: LeagueView) => {
      const next = roundRobinFormat.next(view, 9, options({ cycles: 2 }));
      return typeof next === "string" ? next : next.rounds.length;
    };
    expect(roundsAfter(added(roundRobin(PLAYERS, 2), 4, ["A", "B"], ["C", "D"]))).toBe(3);
    expect(roundsAfter({ ...added(roundRobin(PLAYERS, 3), 4, ["A", "B", "C"]), roleCount: 3 })).toBe(4);
  });

  test("pairs a late entry as often as there are cycles, with alternating roles", () => {
    const first = roundRobin(["A", "B"], 2);
    const rounds = [...first, ...first, ...first, ...first];
    const firstsOf = (more: readonly NewRound[]) => {
      const view = leagueOf([...rounds, ...more], 9, ["A", "B", "E"], 1);
      const next = roundRobinFormat.next(view, 9, options({ makeup: true, cycles: 4 }));
      const pairings = typeof next === "string" ? [] : next.rounds.flatMap((round) => round.pairings);
      return pairings.flatMap((pair) => (pair.includes("A") && pair.includes("E") ? [pair.indexOf("E")] : []));
    };
    const met = { pairings: [["E", "A"]], byes: [] };
    expect(firstsOf([])).toEqual([0, 1, 0, 1]);
    expect(firstsOf([met, met, met])).toEqual([1]);
  });

  test("has matches for late entries only with the option makeup and in a game of two roles", () => {
    const takes = (makeup: boolean, roleCount: number) =>
      roundRobinFormat.takesLateEntries?.(options({ makeup }), roleCount);
    expect([takes(true, 2), takes(true, 3), takes(false, 2)]).toEqual([true, false, false]);
    const late = { ...leagueOf(roundRobin(PLAYERS, 3), 4, [...PLAYERS, "E"], 1), roleCount: 3 };
    expect(roundRobinFormat.next(late, 9, options({ makeup: true }))).toBe("completed");
  });

  test("plays further cycles and missed matches without players that have left", () => {
    const rounds = roundRobin(PLAYERS, 2);
    const late = leagueOf(rounds, 3, [...PLAYERS, "E"], 1);
    const players = late.players.map((player) => ({ ...player, hasLeft: player.playerId === "B" }));
    const next = roundRobinFormat.next({ ...late, players }, 9, options({ makeup: true, cycles: 2 }));
    const pairs =
      typeof next === "object"
        ? next.rounds.map(({ pairings }) => pairings.map((pair) => pair.toSorted().join("")))
        : [];
    expect(pairs.flat().toSorted()).toEqual(["AC", "AD", "AE", "AE", "CD", "CE", "CE", "DE", "DE"]);
    const left = late.players.map((player) => ({ ...player, hasLeft: player.playerId === "E" }));
    expect(roundRobinFormat.next({ ...late, players: left }, 9, options({ makeup: true }))).toBe("completed");
  });

  test("counts the matches that are still to come", () => {
    expect(roundRobinFormat.remaining(leagueOf([], 0), options({ cycles: 2 }))).toBe(12);
    expect(roundRobinFormat.remaining(leagueOf(roundRobin(PLAYERS, 2), 1), options())).toBe(4);
  });

  test("pairs a late entry with all players in further rounds if the option makeup is set", () => {
    const late = leagueOf(roundRobin(PLAYERS, 2), 1, [...PLAYERS, "E", "F"], 2);
    expect(roundRobinFormat.next(late, 9, options())).toBe("completed");
    const next = roundRobinFormat.next(late, 9, options({ makeup: true }));
    const rounds = typeof next === "object" ? next.rounds : [];
    const pairs = rounds.flatMap(({ pairings }) => pairings.map((pair) => pair.toSorted().join("")));
    expect(pairs.toSorted()).toEqual(["AE", "AF", "BE", "BF", "CE", "CF", "DE", "DF", "EF"]);
    for (const { pairings } of rounds) expect(new Set(pairings.flat()).size).toBe(2 * pairings.length);
    // E and F have five matches each.
    expect(rounds).toHaveLength(5);
    expect(roundRobinFormat.plannedRounds?.(late, options({ makeup: true }))).toBe(3 + 5);
    expect(roundRobinFormat.remaining(late, options({ makeup: true }))).toBe(4 + 9);
    const firsts = rounds.flatMap(({ pairings }) => pairings.map(([first]) => first));
    expect(firsts.filter((first) => first === "E")).toHaveLength(3);
    expect(firsts.filter((first) => first === "F")).toHaveLength(2);
  });

  test("with the option makeup waits for late entries until all matches are completed", () => {
    const rounds = roundRobin(PLAYERS, 2);
    expect(roundRobinFormat.next(leagueOf(rounds, 2), 9, options({ makeup: true }))).toBe("wait");
    expect(roundRobinFormat.next(leagueOf(rounds, 3), 9, options({ makeup: true }))).toBe("completed");
  });
});
