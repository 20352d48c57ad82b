import { describe, expect, test } from "vitest";
import type { NewRound } from "./format.ts";
import { roundRobin } from "./round-robin.ts";

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));
const schedule = (count: number): readonly NewRound[] => roundRobin(numbered(count), 2);

/** A round in the notation of the handbook, e.g. "1-4 2-3". */
const printed = (round: NewRound): string => round.pairings.map((players) => players.join("-")).join(" ");

/** The tables of the FIDE Handbook, C.05 General Regulations for Competitions, Annex 1. */
const published: Readonly<Record<number, readonly string[]>> = {
  4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
  6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
  8: [
    "1-8 2-7 3-6 4-5",
    "8-5 6-4 7-3 1-2",
    "2-8 3-1 4-7 5-6",
    "8-6 7-5 1-4 2-3",
    "3-8 4-2 5-1 6-7",
    "8-7 1-6 2-5 3-4",
    "4-8 5-3 6-2 7-1",
  ],
};

describe("FIDE Berger tables", () => {
  test.each([4, 6, 8])(
    "with %i players have the published rounds, with the first role for the first-named player",
    (count) => {
      expect(schedule(count).map(printed)).toEqual(published[count]);
    },
  );

  test.each([3, 5, 7])(
    "with %i players give the bye to the opponent of the next number and otherwise have the published rounds",
    (count) => {
      const rows = published[count + 1] as readonly string[];
      const withBye = rows.map((row) => row.split(" ").filter((pair) => !pair.split("-").includes(String(count + 1))));
      expect(schedule(count).map(printed)).toEqual(withBye.map((pairs) => pairs.join(" ")));
      const byes = rows.map((row) =>
        /(?:^| )(\d)-(\d)/
          .exec(row)
          ?.slice(1)
          .filter((seat) => seat !== String(count + 1)),
      );
      expect(schedule(count).map((round) => round.byes)).toEqual(byes);
    },
  );
});

describe("a schedule", () => {
  test.each([0, 1])("with %i players is empty", (count) => {
    expect(schedule(count)).toEqual([]);
  });

  test("is the same for the same players, whose list is not changed", () => {
    const players = Object.freeze(numbered(7));
    expect(roundRobin(players, 2)).toEqual(roundRobin(players, 2));
  });

  test("cannot be created for a list with a repeated player", () => {
    expect(() => roundRobin(["P01", "P02", "P01"], 2)).toThrow(/listed once/);
  });
});

const sizes = [...Array.from({ length: 63 }, (_, index) => index + 2), 65, 100];

describe.each(sizes)("a schedule of %i players", (count) => {
  const rounds = schedule(count);
  const players = numbered(count);

  test("has the least possible number of rounds", () => {
    expect(rounds).toHaveLength(count % 2 === 0 ? count - 1 : count);
  });

  test("gives every player one match or the bye in each round", () => {
    for (const round of rounds) {
      const listed = round.pairings.flat();
      expect([...listed, ...round.byes].toSorted()).toEqual(players.toSorted());
      expect(round.byes).toHaveLength(count % 2);
    }
  });

  test("lets each pair meet exactly once", () => {
    const pairs = rounds.flatMap((round) => round.pairings.map((players) => players.toSorted().join("-")));
    expect(pairs).toHaveLength((count * (count - 1)) / 2);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  test("gives each player both roles equally often, with a difference of one if the number of players is even, and one bye if it is odd", () => {
    for (const player of players) {
      const matches = rounds.flatMap((round) => round.pairings);
      const first = matches.filter((players) => players[0] === player).length;
      const second = matches.filter((players) => players[1] === player).length;
      expect(Math.abs(first - second)).toBe(count % 2 === 0 ? 1 : 0);
      expect(rounds.filter(({ byes }) => byes.includes(player))).toHaveLength(count % 2);
    }
  });
});
