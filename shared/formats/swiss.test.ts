import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PUBLISHED_SWISS } from "../standings/testing/published-swiss.ts";
import { type LeagueView, type NewRound, pairKey } from "./format.ts";
import { type RoleIndex, Roles, roleCost } from "./roles.ts";
import { pairSwiss, type SwissPlayer, swiss, swissPlayers } from "./swiss.ts";
import { type Disturbances, playLeague } from "./testing/play-league.ts";

/** Plays a Swiss league to its end. The lower the number of a player, the better its results. */
function play(playerCount: number, seed: string, rounds?: number, disturbances: Disturbances = {}): LeagueView {
  const league = { format: swiss, options: { rounds }, playerCount, roleCount: 2, slots: 100, seed, disturbances };
  const steps = playLeague({
    ...league,
    play: (players, random) => {
      const [first, second] = players.map((player) => Number(player.slice(1)) + random.int(0, playerCount));
      return first === second ? [1, 1] : (first ?? 0) < (second ?? 0) ? [3, 0] : [0, 3];
    },
  });
  return steps.at(-1)?.view as LeagueView;
}

/** The pairs that have met more than once. */
function rematches({ rounds }: LeagueView): readonly string[] {
  const pairs = rounds.flatMap(({ matches }) => matches.map(({ players: [a = "", b = ""] }) => pairKey(a, b)));
  return pairs.filter((pair, index) => pairs.indexOf(pair) !== index);
}

const rolesOf = (view: LeagueView): ReadonlyMap<string, readonly RoleIndex[]> =>
  new Map(
    view.players.map(({ playerId }) => [
      playerId,
      view.rounds.flatMap(({ matches }) =>
        matches.flatMap(({ players }): RoleIndex[] =>
          players[0] === playerId ? [0] : players[1] === playerId ? [1] : [],
        ),
      ),
    ]),
  );

/** The players that have the same role three times in a row, or one role three times more often than the other. */
const unbalanced = (view: LeagueView): readonly string[] =>
  [...rolesOf(view)].flatMap(([player, roles]) => {
    const third = roles.some((role, index) => index > 1 && role === roles[index - 1] && role === roles[index - 2]);
    const differences = roles.map((_, index) => Math.abs(Roles.of(roles.slice(0, index + 1)).difference));
    return third || Math.max(0, ...differences) > 2 ? [`${player}: ${roles.join("")}`] : [];
  });

/** The greatest difference of the numbers of byes of two players. */
function byeSpread({ players, rounds }: LeagueView): number {
  const counts = players.map(({ playerId }) => rounds.filter(({ byes }) => byes.includes(playerId)).length);
  return Math.max(...counts) - Math.min(...counts);
}

const DEFAULT_ROUNDS = (playerCount: number): number => Math.ceil(Math.log2(playerCount));

function expectFair(view: LeagueView): void {
  expect(rematches(view)).toEqual([]);
  expect(unbalanced(view)).toEqual([]);
  expect(byeSpread(view)).toBeLessThanOrEqual(1);
  const playerCount = view.players.length;
  for (const { matches, byes } of view.rounds) {
    expect(matches).toHaveLength(Math.floor(playerCount / 2));
    expect(byes).toHaveLength(playerCount % 2);
  }
}

describe("a Swiss system", () => {
  test("with 8 to 60 players has no rematch, no third equal role in a row and fair byes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 60 }), fc.integer({ min: 0, max: 1000 }), (playerCount, seed) => {
        const view = play(playerCount, `default ${seed}`);
        expect(view.rounds).toHaveLength(DEFAULT_ROUNDS(playerCount));
        expectFair(view);
      }),
      { numRuns: 60 },
    );
  });

  test.each([100, 151, 200])("with %i players has no rematch, no third equal role in a row and fair byes", (count) => {
    const view = play(count, `large ${count}`);
    expect(view.rounds).toHaveLength(DEFAULT_ROUNDS(count));
    expectFair(view);
  });

  test("keeps these rules for as many rounds as half of the players", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 24 }), fc.integer({ min: 0, max: 1000 }), (playerCount, seed) => {
        const rounds = Math.floor(playerCount / 2);
        const view = play(playerCount, `half ${seed}`, rounds, { forfeit: 0.1, doubleForfeit: 0.05 });
        expect(view.rounds).toHaveLength(rounds);
        expectFair(view);
      }),
      { numRuns: 60 },
    );
  });

  test("ends early rather than with a rematch if it has more rounds than a player has opponents", () => {
    for (const playerCount of [2, 3, 5, 8, 11]) {
      const view = play(playerCount, "too many rounds", 50);
      expect(rematches(view)).toEqual([]);
      expect(byeSpread(view)).toBeLessThanOrEqual(1);
      expect(view.rounds.length).toBeGreaterThanOrEqual(Math.floor(playerCount / 2));
      expect(view.rounds.length).toBeLessThanOrEqual(playerCount % 2 === 0 ? playerCount - 1 : playerCount);
    }
  });

  test("lets the players of an aborted match meet again", () => {
    const view = play(2, "aborted", 3, { abort: 1 });
    expect(view.rounds.map(({ matches }) => matches[0]?.players)).toEqual([
      ["P001", "P002"],
      ["P001", "P002"],
      ["P001", "P002"],
    ]);
  });

  test("gives the bye to the lowest points among the players with the fewest byes, lowest seed first", () => {
    const view = play(7, "byes", 3);
    for (const [index, { byes }] of [...view.rounds].entries()) {
      const before = swissPlayers({ ...view, rounds: view.rounds.slice(0, index) });
      const candidates = before.filter(({ byes: count }) => count === 0);
      expect(byes).toEqual([candidates.at(-1)?.playerId]);
      expect(candidates.at(-1)?.points).toBe(Math.min(...candidates.map(({ points }) => points)));
    }
    const [bye = ""] = view.rounds.at(0)?.byes ?? [];
    const afterFirst = swissPlayers({ ...view, rounds: view.rounds.slice(0, 1) });
    expect(afterFirst.find(({ playerId }) => playerId === bye)).toMatchObject({
      points: 3,
      byes: 1,
      roles: { length: 0 },
    });
  });

  test("pairs late entries from the next round on and leaves out players that have left", () => {
    const full = play(4, "late", 2);
    const first = { ...full, rounds: full.rounds.slice(0, 1) };
    const players = first.players.map((player) => ({ ...player, hasLeft: player.playerId === "P001" }));
    const late = { playerId: "P005", enteredAfter: 1, hasLeft: false };
    const next = swiss.next({ ...first, players: [...players, late] }, 9, { rounds: 2 });
    const [round] = typeof next === "string" ? [] : next.rounds;
    expect(round?.pairings.flat().toSorted()).toEqual(["P002", "P003", "P004", "P005"]);
  });
});

/** All ways to divide players into pairs. */
function* divisions(players: readonly SwissPlayer[]): Generator<readonly (readonly [SwissPlayer, SwissPlayer])[]> {
  const [first, ...others] = players;
  if (first === undefined) yield [];
  else {
    for (const partner of others) {
      for (const pairs of divisions(others.filter((player) => player !== partner))) yield [[first, partner], ...pairs];
    }
  }
}

const pointDifference = (pairs: readonly (readonly [SwissPlayer, SwissPlayer])[]): number =>
  pairs.reduce((sum, [a, b]) => sum + (a.points - b.points) ** 2, 0);

const isAllowed = ([a, b]: readonly [SwissPlayer, SwissPlayer]): boolean =>
  !a.opponents.has(b.playerId) && roleCost(a.roles, b.roles) !== null;

/** The pairs of a round as players. */
function pairsOf({ pairings }: NewRound, players: readonly SwissPlayer[]) {
  const byId = new Map(players.map((player) => [player.playerId, player]));
  return pairings.map(([a = "", b = ""]) => [byId.get(a) as SwissPlayer, byId.get(b) as SwissPlayer] as const);
}

test("with up to 8 players the sum of the squares of the differences of points is minimal", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 0, max: 10_000 }), (playerCount, seed) => {
      const view = play(playerCount, `minimal ${seed}`, Math.floor(playerCount / 2), { forfeit: 0.1, abort: 0.1 });
      for (const [index, round] of [...view.rounds].entries()) {
        const players = swissPlayers({ ...view, rounds: view.rounds.slice(0, index) });
        const paired = players.filter(({ playerId }) => !round.byes.includes(playerId));
        const allowed = [...divisions(paired)].filter((pairs) => pairs.every(isAllowed));
        const found = pairsOf({ pairings: round.matches.map((match) => match.players), byes: [] }, players);
        expect(pointDifference(found)).toBe(Math.min(...allowed.map(pointDifference)));
      }
    }),
    { numRuns: 150 },
  );
});

const HALF_POINTS: Readonly<Record<string, number>> = { "+": 2, "=": 1, bye: 2, half: 1 };

/** The players before a round, counted from 0, with their half points. Matches that were lost by forfeit are no meetings. */
function publishedPlayers(round: number): readonly (SwissPlayer & { readonly cell: string })[] {
  return PUBLISHED_SWISS.map((cells, index) => {
    const before = cells.slice(0, round);
    const played = before.filter((cell) => /^[wb]/.test(cell) && cell !== "bye");
    return {
      playerId: String(index + 1),
      points: before.reduce((sum, cell) => sum + (HALF_POINTS[cell] ?? HALF_POINTS[cell.at(-1) ?? ""] ?? 0), 0),
      byes: before.filter((cell) => cell === "bye").length,
      opponents: new Set(played.map((cell) => cell.slice(1, -1))),
      roles: Roles.of(played.map((cell) => (cell.startsWith("w") ? 0 : 1))),
      cell: cells[round] ?? "",
    };
  });
}

describe("a published tournament", () => {
  test("has the same first round", () => {
    const pairings = PUBLISHED_SWISS.flatMap(([cell = ""], index) =>
      cell.startsWith("w") ? [[String(index + 1), cell.slice(1, -1)]] : [],
    );
    expect(pairSwiss(publishedPlayers(0))?.pairings.toSorted()).toEqual(pairings.toSorted());
  });

  test.each([1, 2, 3, 4])("is not paired better than here after round %i", (round) => {
    const players = publishedPlayers(round)
      .filter(({ cell }) => /^[wbF]\d/.test(cell))
      .toSorted((a, b) => b.points - a.points);
    const published = players.flatMap(({ playerId, cell }): readonly [string, string][] => {
      const opponent = cell.slice(1, -1);
      return Number(playerId) < Number(opponent) ? [[playerId, opponent]] : [];
    });
    const found = pairSwiss(players) as NewRound;
    expect(found.pairings).toHaveLength(published.length);
    const difference = (pairings: NewRound["pairings"]) => pointDifference(pairsOf({ pairings, byes: [] }, players));
    expect(difference(found.pairings)).toBeLessThanOrEqual(difference(published));
  });
});
