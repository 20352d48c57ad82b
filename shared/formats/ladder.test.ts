import { describe, expect, test } from "vitest";
import { type LeagueView, matchesOf } from "./format.ts";
import { ladder } from "./ladder.ts";
import { playLeague, type SimulatedLeague } from "./testing/play-league.ts";

/** The place of a player by strength, from 0. It is not the order of the players, up to 20 of them. */
const place = (player: string): number => (Number(player.slice(1)) * 7) % 20;

/** Plays a ladder in which the stronger player usually wins. */
function play(playerCount: number, slots: number, options: object = {}, more: Partial<SimulatedLeague> = {}) {
  const league = {
    format: ladder,
    options: ladder.options.parse({ ...ladder.optionsOfNew, ...options }),
    playerCount,
    slots,
    roleCount: 2,
    seed: "l",
  };
  return playLeague({
    ...league,
    disturbances: {},
    play: (players, random) => {
      const [one = 0, two = 0] = players.map(place);
      return random.next() < 1 / (1 + 2 ** (one - two)) ? [3, 0] : [0, 3];
    },
    ...more,
  });
}

const seats = (view: LeagueView): readonly (readonly string[])[] => matchesOf(view).map(({ players }) => players);
const finalView = (steps: ReturnType<typeof play>): LeagueView => steps.at(-1)?.view as LeagueView;

describe("a ladder", () => {
  test("ends after the number of matches of its options, or after five for each player", () => {
    expect(seats(finalView(play(6, 3, { matches: 11 })))).toHaveLength(11);
    expect(seats(finalView(play(6, 3)))).toHaveLength(30);
  });

  test("pairs a player only when it is free", () => {
    for (const { view, next } of play(9, 4, { matches: 200 })) {
      const busy = matchesOf(view).flatMap(({ players, outcome }) => (outcome === null ? players : []));
      const paired = typeof next === "string" ? [] : next.rounds.flatMap(({ pairings }) => pairings.flat());
      expect(new Set([...busy, ...paired]).size).toBe(busy.length + paired.length);
    }
  });

  test.each([
    [3, 1],
    [5, 2],
    [8, 4],
    [9, 3],
    [20, 10],
  ])("gives %i players, %i matches at a time, numbers of matches that differ by at most two", (playerCount, slots) => {
    for (const { view } of play(playerCount, slots, { matches: 5 * playerCount })) {
      const counts = view.players.map(({ playerId }) => seats(view).filter((one) => one.includes(playerId)).length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    }
  });

  test("does not make the others wait for a late entry", () => {
    const before = finalView(play(4, 1, { matches: 12 }));
    const view = { ...before, players: [...before.players, { playerId: "P005", enteredAfter: 12, hasLeft: false }] };
    const next = ladder.next(view, 2, ladder.options.parse({ ...ladder.optionsOfNew, matches: 20 }));
    expect(typeof next === "object" && next.rounds).toHaveLength(2);
  });

  test("without max_ahead, as in earlier logs, pairs players that are further ahead", () => {
    const { rounds } = finalView(play(5, 2, { matches: 25 }));
    const earlier = finalView(play(5, 2, { matches: 25, max_ahead: undefined })).rounds;
    expect(earlier.length).toBe(rounds.length);
    expect(earlier).not.toEqual(rounds);
  });

  test("pairs players of similar strength once ratings are known", () => {
    const view = finalView(play(20, 6, { matches: 600 }));
    const distances = seats(view).map(([one = "", two = ""]) => Math.abs(place(one) - place(two)));
    const later = distances.slice(300);
    // Random pairs of 20 players are 7 places apart.
    expect(later.reduce((sum, distance) => sum + distance, 0) / later.length).toBeLessThan(4.5);
  });

  test("lets no two of three or more players meet twice in a row", () => {
    for (const playerCount of [3, 4, 7]) {
      const view = finalView(play(playerCount, 2, { matches: 60 }));
      for (const { playerId } of view.players) {
        const opponents = seats(view).flatMap((pair) =>
          pair.includes(playerId) ? pair.filter((id) => id !== playerId) : [],
        );
        expect(opponents.filter((opponent, index) => opponent === opponents[index - 1])).toEqual([]);
      }
    }
  });

  test("ranks the players by rating", () => {
    const view = finalView(play(20, 6, { matches: 1000 }));
    const ranking = ladder.ranking?.(view, ladder.options.parse({})) ?? [];
    const top = ranking.slice(0, 5).flat();
    expect(top).toHaveLength(5);
    expect(top.filter((player) => place(player) < 8)).toHaveLength(5);
    expect(ladder.ranking?.({ ...view, rounds: [] }, ladder.options.parse({}))).toHaveLength(1);
  });

  test("balances the roles", () => {
    const view = finalView(play(8, 3, { matches: 100 }));
    for (const { playerId } of view.players) {
      const roles = seats(view).flatMap((pair) => (pair.includes(playerId) ? [pair.indexOf(playerId)] : []));
      const firsts = roles.filter((role) => role === 0).length;
      expect(Math.abs(2 * firsts - roles.length)).toBeLessThanOrEqual(3);
    }
  });

  test("pairs a late entry until it has as many matches as the others", () => {
    const before = finalView(play(4, 2, { matches: 12 }));
    const view = { ...before, players: [...before.players, { playerId: "P005", enteredAfter: 12, hasLeft: false }] };
    const next = ladder.next(view, 1, ladder.options.parse({ matches: 20 }));
    expect(typeof next === "object" && next.rounds[0]?.pairings.flat()).toContain("P005");
  });
});
