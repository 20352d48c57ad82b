import blossom from "edmonds-blossom-fixed";
import { z } from "zod";
import { activePlayers, type Format, type LeagueView, type NewRound, openMatches } from "./format.ts";
import { firstRole, type RoleHistory, Roles, roleCost } from "./roles.ts";

const Options = z.strictObject({
  rounds: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "The number of rounds. Without it: the smallest number of rounds after which one player can be left without a loss.",
    ),
});
type Options = z.infer<typeof Options>;

const BYE_POINTS = 3;

/** The number of rounds of the options, or log2 of the number of players at the start, rounded up. */
const roundCount = (view: LeagueView, { rounds }: Options): number =>
  rounds ?? Math.max(1, Math.ceil(Math.log2(view.players.filter(({ enteredAfter }) => enteredAfter === 0).length)));

/** The league ends early if no two players can be paired without a second meeting. */
export const swiss: Format<Options> = {
  id: "swiss",
  name: "Swiss system",
  description: "In each round players with equal or similar points meet, and no two players meet twice.",
  options: Options,
  extendable: ["rounds"],
  roles: "two",
  opensRounds: "in_order",
  byePoints: BYE_POINTS,
  tieBreaks: ["points", "buchholz", "sonneborn-berger", "wins"],

  next(view, _slots, options) {
    if (view.rounds.length >= roundCount(view, options) || activePlayers(view).length < 2) return "completed";
    if (openMatches(view) > 0) return "wait";
    const round = pairSwiss(swissPlayers(view));
    return round === null ? "completed" : { rounds: [round] };
  },

  plannedRounds: roundCount,
  earlyEnd: "the players that are left cannot be paired without a second meeting",

  remaining(view, options) {
    const rounds = Math.max(0, roundCount(view, options) - view.rounds.length);
    return openMatches(view) + rounds * Math.floor(activePlayers(view).length / 2);
  },
};

/** A player of a Swiss system before a round. */
export interface SwissPlayer {
  readonly playerId: string;
  /** The points of matches and byes. */
  readonly points: number;
  readonly byes: number;
  readonly opponents: ReadonlySet<string>;
  readonly roles: RoleHistory;
}

/**
 * The players that can be paired, by points and then by seeding. An aborted or annulled match is neither a meeting nor a role: the two players
 * can be paired again.
 */
export function swissPlayers(view: LeagueView): readonly SwissPlayer[] {
  const players = new Map(
    view.players
      .filter(({ hasLeft }) => !hasLeft)
      .map(({ playerId }) => [
        playerId,
        { playerId, points: 0, byes: 0, opponents: new Set<string>(), roles: new Roles() },
      ]),
  );
  for (const { matches, byes } of view.rounds) {
    for (const bye of byes) {
      const player = players.get(bye);
      if (player === undefined) continue;
      player.byes++;
      player.points += BYE_POINTS;
    }
    for (const { players: seats, outcome } of matches) {
      if (outcome?.points.length === 0) continue;
      for (const [seat, playerId] of seats.entries()) {
        const player = players.get(playerId);
        if (player === undefined) continue;
        player.points += outcome?.points[seat] ?? 0;
        player.opponents.add(seats[1 - seat] as string);
        player.roles.push(seat === 0 ? 0 : 1);
      }
    }
  }
  return [...players.values()].sort((a, b) => b.points - a.points);
}

/**
 * Pairs a round. Rules, the most important first:
 * 1. no two players meet again, and no player has a second bye before every other player had one;
 * 2. no player has the same role three times in a row, and the two roles of a player differ by at most two. This rule gives way if there is no other pairing;
 * 3. the bye goes to the lowest points, then to the lowest seed;
 * 4. the sum of the squares of the differences of points is as small as possible;
 * 5. players have the role that they should have;
 * 6. the upper half of a score group meets the lower half: 1 meets 5 and 4 meets 8 in a group of eight.
 *
 * Returns null if rule 1 allows no pairing.
 */
export function pairSwiss(players: readonly SwissPlayer[]): NewRound | null {
  for (const balanced of [true, false]) {
    for (const bye of byeCandidates(players)) {
      const paired = players.filter((player) => player !== bye);
      const pairs = cheapestPairs(paired.length, costs(paired, balanced));
      if (pairs !== null) return roundOf(paired, pairs, bye);
    }
  }
  return null;
}

/** The players that can have the bye, the best candidate first; only null if every player can be paired. */
function byeCandidates(players: readonly SwissPlayer[]): readonly (SwissPlayer | null)[] {
  if (players.length % 2 === 0) return [null];
  const fewest = Math.min(...players.map(({ byes }) => byes));
  return players.filter(({ byes }) => byes === fewest).toReversed();
}

/** The cost of each pair by rules 4 to 6, as one integer: any cost of a rule is more than all costs of the rules below it together. */
function costs(players: readonly SwissPlayer[], balanced: boolean): (a: number, b: number) => number | null {
  const count = players.length;
  const perRole = (count * count) / 2 + 1;
  const perPoint = perRole * (2 * count + 1);
  const groupSizes = new Map<number, number>();
  for (const { points } of players) groupSizes.set(points, (groupSizes.get(points) ?? 0) + 1);
  return (a, b) => {
    const [one, two] = [players[a] as SwissPlayer, players[b] as SwissPlayer];
    if (one.opponents.has(two.playerId)) return null;
    const role = roleCost(one.roles, two.roles);
    if (role === null && balanced) return null;
    const difference = one.points - two.points;
    const ideal = difference === 0 ? Math.floor((groupSizes.get(one.points) as number) / 2) : 0;
    const fold = Math.abs(Math.abs(a - b) - ideal);
    return difference * difference * perPoint + (role ?? 3) * perRole + fold;
  };
}

/** The pairings by the rank of their better player. In the first round the first role alternates from table to table. */
function roundOf(
  players: readonly SwissPlayer[],
  pairs: readonly (readonly [number, number])[],
  bye: SwissPlayer | null,
): NewRound {
  const pairings = pairs
    .toSorted(([a], [b]) => a - b)
    .map(([a, b], table) => {
      const [one, two] = [players[a] as SwissPlayer, players[b] as SwissPlayer];
      const first = firstRole(one.roles, two.roles, table % 2 === 0 ? 0 : 1);
      return first === 0 ? [one.playerId, two.playerId] : [two.playerId, one.playerId];
    });
  return { pairings, byes: bye === null ? [] : [bye.playerId] };
}

/**
 * Divides the numbers from 0 to `size` - 1 into pairs whose costs have the least sum. `costOf` returns an integer, or null for a pair that is not
 * allowed. Returns null if no division has only allowed pairs. The time grows with the third power of `size`.
 */
function cheapestPairs(
  size: number,
  costOf: (a: number, b: number) => number | null,
): readonly (readonly [number, number])[] | null {
  if (size % 2 === 1) return null;
  const edges: (readonly [number, number, number])[] = [];
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const cost = costOf(a, b);
      if (cost !== null) edges.push([a, b, -cost]);
    }
  }
  if (edges.length === 0) return size === 0 ? [] : null;
  const partners = blossom(edges, true);
  const pairs: (readonly [number, number])[] = [];
  for (let a = 0; a < size; a++) {
    const partner = partners[a] ?? -1;
    if (partner === -1) return null;
    if (a < partner) pairs.push([a, partner]);
  }
  return pairs;
}
