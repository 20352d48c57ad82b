import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundRobin } from "./round-robin.ts";

const schedule = (count: number, roleCount: number) =>
  roundRobin(
    Array.from({ length: count }, (_, index) => `P${index + 1}`),
    roleCount,
  );

/** Numbers of players and of roles. */
const sizes = fc
  .integer({ min: 3, max: 6 })
  .chain((roles) => fc.tuple(fc.integer({ min: roles, max: 24 }), fc.constant(roles)));

/** Checks that each player has each role and the bye equally often, and that each round lists each player once. */
function expectFair(count: number, roleCount: number): void {
  const rounds = schedule(count, roleCount);
  const perPlayer = Math.floor(count / roleCount);
  expect(rounds).toHaveLength(count);
  for (const { pairings, byes } of rounds) {
    const listed = [...pairings.flat(), ...byes];
    expect(new Set(listed).size).toBe(count);
    expect(listed).toHaveLength(count);
    expect(pairings.every((players) => players.length === roleCount)).toBe(true);
  }
  for (let number = 1; number <= count; number++) {
    const player = `P${number}`;
    const seats = rounds.flatMap(({ pairings }) => pairings.map((players) => players.indexOf(player)));
    for (let role = 0; role < roleCount; role++) expect(seats.filter((seat) => seat === role)).toHaveLength(perPlayer);
    expect(rounds.filter(({ byes }) => byes.includes(player))).toHaveLength(count % roleCount);
  }
}

/** The least and the greatest number of meetings of two players. */
function meetings(count: number, roleCount: number): readonly [least: number, most: number] {
  const counts = new Map<string, number>();
  for (const { pairings } of schedule(count, roleCount)) {
    for (const players of pairings) {
      for (const [a, first] of players.entries()) {
        for (const second of players.slice(a + 1)) {
          const pair = [first, second].sort().join();
          counts.set(pair, (counts.get(pair) ?? 0) + 1);
        }
      }
    }
  }
  const all = counts.size === (count * (count - 1)) / 2 ? [...counts.values()] : [0, ...counts.values()];
  return [Math.min(...all), Math.max(...all)];
}

describe("the schedule of a game of more than two roles", () => {
  it("lists every player once in a round, and gives each the same number of matches in each role and of byes", () => {
    fc.assert(fc.property(sizes, ([count, roleCount]) => expectFair(count, roleCount)));
  });

  it("is the same for the same players", () => {
    expect(schedule(9, 4)).toEqual(schedule(9, 4));
  });

  it("gives each of four players each role in four rounds", () => {
    const [first, ...others] = schedule(4, 4).map(({ pairings }) => pairings[0]);
    expect([first, ...others]).toEqual([
      ["P1", "P2", "P3", "P4"],
      ["P2", "P3", "P4", "P1"],
      ["P3", "P4", "P1", "P2"],
      ["P4", "P1", "P2", "P3"],
    ]);
  });

  it("lets any two of up to 24 players meet at least once and at most k + 1 times in a game of k roles", () => {
    fc.assert(
      fc.property(sizes, ([count, roleCount]) => {
        const [least, most] = meetings(count, roleCount);
        expect(least).toBeGreaterThanOrEqual(1);
        expect(most).toBeLessThanOrEqual(roleCount + 1);
      }),
    );
  });

  it("is empty with fewer players than roles", () => {
    expect(schedule(3, 4)).toEqual([]);
  });
});
