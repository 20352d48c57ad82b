import { z } from "zod";
import { invariant } from "#shared/lib/result.ts";
import {
  activePlayers,
  type Format,
  type LeagueView,
  matchCount,
  matchesOf,
  type NewRound,
  openMatches,
  pairKey,
} from "./format.ts";
import { meetingsOf } from "./pair-series.ts";

const Options = z.strictObject({
  cycles: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe("The number of times that the schedule is played. Each cycle rotates the roles."),
  makeup: z
    .boolean()
    .default(false)
    .describe("Whether late entries play the matches that they have missed, in further rounds (games of two roles)."),
});
type Options = z.infer<typeof Options>;

/**
 * The schedule of one cycle. A game of two roles uses the Berger tables: every player meets every other player once. A game of more roles uses
 * `rotation`. With fewer players than roles there are no rounds. Throws if a player is repeated.
 */
export function roundRobin(playerIds: readonly string[], roleCount: number): readonly NewRound[] {
  invariant(new Set(playerIds).size === playerIds.length, "a player is listed once in a schedule");
  if (playerIds.length < roleCount) return [];
  return roleCount === 2 ? bergerRounds(playerIds) : rotation(playerIds, roleCount);
}

/** All rounds of all cycles. In cycle c, from 0, the roles of each match are rotated by c: a second cycle of a game of two roles swaps them. */
function schedule(playerIds: readonly string[], roleCount: number, cycles: number): readonly NewRound[] {
  const cycle = roundRobin(playerIds, roleCount);
  return Array.from({ length: cycles }, (_, turns) =>
    cycle.map(({ pairings, byes }) => ({ pairings: pairings.map((players) => rotated(players, turns)), byes })),
  ).flat();
}

const rotated = (players: readonly string[], turns: number): readonly string[] =>
  players.map((_, role) => players[(role + turns) % players.length] as string);

/** The pairings of late entries with all other players that are not paired yet. The roles alternate over the list of players. */
function missedPairings(view: LeagueView, { cycles, makeup }: Options): readonly (readonly string[])[] {
  const isLate = view.players.map(({ enteredAfter }) => enteredAfter > 0);
  if (!makeup || view.roleCount !== 2 || !isLate.includes(true)) return [];
  const meetings = meetingsOf(view);
  return view.players.flatMap((late, index) =>
    view.players.slice(0, index).flatMap((other, otherIndex) => {
      if (!isLate[index] || late.hasLeft || other.hasLeft) return [];
      const met = meetings.get(pairKey(late.playerId, other.playerId)) ?? 0;
      return Array.from({ length: Math.max(0, cycles - met) }, (_, more) =>
        rotated([late.playerId, other.playerId], (index + otherIndex + met + more) % 2),
      );
    }),
  );
}

/** The cycles that are not paired: all at the start, and later those by which `cycles` was raised. Late entries do not play in them. */
function furtherCycles(view: LeagueView, { cycles }: Options): readonly NewRound[] {
  const entered = view.players.filter(({ enteredAfter }) => enteredAfter === 0).length;
  const matches = matchCount(view);
  // Without an extension and without further matches, no pass over the matches is needed.
  if (view.roleCount === 2 && matches === (cycles * entered * (entered - 1)) / 2) return [];
  const active = new Set(activePlayers(view));
  const players = view.players.flatMap(({ playerId, enteredAfter }) =>
    enteredAfter === 0 && active.has(playerId) ? [playerId] : [],
  );
  const cycle = roundRobin(players, view.roleCount);
  return schedule(players, view.roleCount, cycles).slice(cycle.length * pairedCycles(view, players, cycle));
}

/** The number of cycles that are paired: how often each two players have met, or in games of more roles, how often each player was paired in all cycles. */
function pairedCycles(view: LeagueView, players: readonly string[], cycle: readonly NewRound[]): number {
  if (view.roleCount === 2) {
    const meetings = meetingsOf(view);
    const counts = players.flatMap((a, index) => players.slice(0, index).map((b) => meetings.get(pairKey(a, b)) ?? 0));
    return Math.min(...counts);
  }
  const timesIn = (pairings: readonly (readonly string[])[], player: string): number =>
    pairings.filter((pairing) => pairing.includes(player)).length;
  const paired = matchesOf(view).map((match) => match.players);
  const all = cycle.flatMap(({ pairings }) => pairings);
  return Math.floor(Math.min(...players.map((player) => timesIn(paired, player) / timesIn(all, player))));
}

/** Distributes pairings over as few rounds as the first fit needs. No player is twice in a round. These rounds have no byes. */
function makeupRounds(pairings: readonly (readonly string[])[]): readonly NewRound[] {
  const rounds: { readonly pairings: (readonly string[])[]; readonly players: Set<string> }[] = [];
  for (const pairing of pairings) {
    let round = rounds.find(({ players }) => !pairing.some((player) => players.has(player)));
    if (round === undefined) {
      round = { pairings: [], players: new Set() };
      rounds.push(round);
    }
    round.pairings.push(pairing);
    for (const player of pairing) round.players.add(player);
  }
  return rounds.map(({ pairings }) => ({ pairings, byes: [], label: "Makeup" }));
}

export const roundRobinFormat: Format<Options> = {
  id: "round-robin",
  name: "Round robin",
  description:
    "Every player meets every other player, by the Berger tables; games of more than two roles rotate the players.",
  options: Options,
  extendable: ["cycles"],
  switches: { makeup: { on: "players who come late play the matches that they have missed", off: "" } },
  roles: "any",
  opensRounds: "in_order",
  allowsAddedMatches: true,
  byePoints: 0,
  tieBreaks: ["points", "wins", "draws"],

  ignoresResults: true,
  takesLateEntries: ({ makeup }, roleCount) => makeup && roleCount === 2,

  next(view, _slots, options) {
    const rounds = [...furtherCycles(view, options), ...makeupRounds(missedPairings(view, options))];
    if (rounds.length > 0) return { rounds };
    return options.makeup && openMatches(view) > 0 ? "wait" : "completed";
  },

  plannedRounds(view, options) {
    const further = furtherCycles(view, options).length + makeupRounds(missedPairings(view, options)).length;
    return view.rounds.length + further;
  },

  remaining(view, options) {
    const further = furtherCycles(view, options).reduce((sum, { pairings }) => sum + pairings.length, 0);
    return openMatches(view) + further + missedPairings(view, options).length;
  },
};

/** With an odd number of players the highest number of the tables is vacant, as in the FIDE tables. Its opponent has the bye. */
const DUMMY = null;

/**
 * The Berger tables (FIDE Handbook C.05, Annex 1). The first-named player has the first role. With an odd number of players each has both roles
 * equally often; with an even number the two counts differ by one.
 */
function bergerRounds(playerIds: readonly string[]): readonly NewRound[] {
  const seats: (string | null)[] = playerIds.length % 2 === 0 ? [...playerIds] : [...playerIds, DUMMY];
  return Array.from({ length: seats.length - 1 }, (_, index) => {
    const pairs = bergerRound(seats, index);
    return {
      pairings: pairs.filter((pair): pair is readonly [string, string] => !pair.includes(DUMMY)),
      byes: pairs.filter((pair) => pair.includes(DUMMY)).flatMap((pair) => pair.filter((player) => player !== DUMMY)),
    };
  });
}

type Table = readonly [first: string | null, second: string | null];

/**
 * One round of the Berger tables, with the pairs in published order. The last seat keeps its place and changes its role every round. The other seats
 * form a circle that turns by half of its size each round, and opposite seats are paired.
 */
function bergerRound(seats: readonly (string | null)[], index: number): readonly Table[] {
  const circle = seats.length - 1;
  const top = (index * (seats.length / 2)) % circle;
  const seat = (place: number): string | null => seats[(place + circle) % circle] as string | null;
  const last = seats[circle] as string | null;
  const across = Array.from({ length: seats.length / 2 - 1 }, (_, k): Table => [seat(top + k + 1), seat(top - k - 1)]);
  return [index % 2 === 0 ? [seat(top), last] : [last, seat(top)], ...across];
}

/**
 * The schedule of n players for a game of k > 2 roles: n rounds of floor(n / k) matches.
 *
 * The players are assigned to n positions in a circle. Each position is a role of a match or a bye. Every round the players move by one position, so
 * after n rounds every player has been in each position once: it has had every role floor(n / k) times and n mod k byes.
 *
 * Two players meet in a round if their distance on the circle is that of two positions of one match. `positionsOf` therefore distributes the
 * positions of the matches so that all distances occur about equally often, and all players meet about equally often. With up to 24 players any two
 * meet at least once and at most k + 1 times.
 */
export function rotation(playerIds: readonly string[], roleCount: number): readonly NewRound[] {
  const count = playerIds.length;
  const { matches, byes } = positionsOf(count, roleCount);
  return playerIds.map((_, turn) => {
    const playerAt = (position: number): string => playerIds[(position + turn) % count] as string;
    return { pairings: matches.map((positions) => positions.map(playerAt)), byes: byes.map(playerAt) };
  });
}

interface Positions {
  /** The positions of each match on the circle, in the order of the roles. */
  readonly matches: readonly (readonly number[])[];
  readonly byes: readonly number[];
}

/** Distributes the positions greedily: each next position is the free one whose distances to the other positions of its match are used least. */
function positionsOf(count: number, roleCount: number): Positions {
  const free = new Set(Array.from({ length: count }, (_, position) => position));
  const distance = (a: number, b: number): number => Math.min(Math.abs(a - b), count - Math.abs(a - b));
  /** The number of meetings of two players by their distance. Players at opposite positions meet twice, because half a turn swaps them. */
  const meetings = new Array<number>(Math.floor(count / 2) + 1).fill(0);
  const perUse = (apart: number): number => (2 * apart === count ? 2 : 1);
  const meetingsWith = (position: number, others: readonly number[]): number =>
    others.reduce(
      (sum, other) => sum + perUse(distance(position, other)) * (meetings[distance(position, other)] as number),
      0,
    );
  const takePosition = (others: readonly number[]): number => {
    const best = [...free].reduce((least, position) =>
      meetingsWith(position, others) < meetingsWith(least, others) ? position : least,
    );
    for (const other of others) {
      const apart = distance(best, other);
      meetings[apart] = (meetings[apart] as number) + perUse(apart);
    }
    free.delete(best);
    return best;
  };
  const matches = Array.from({ length: Math.floor(count / roleCount) }, () => {
    const positions: number[] = [];
    while (positions.length < roleCount) positions.push(takePosition(positions));
    return positions;
  });
  return { matches, byes: [...free] };
}
