import { z } from "zod";
import { invariant } from "#shared/lib/result.ts";
import type { Format, LeagueView, NewRound } from "./format.ts";
import { meetingsOf } from "./pair-series.ts";
import { bergerRounds } from "./pairing/berger.ts";
import { rotation } from "./rotation.ts";
import { activePlayers, matchCount, matchesOf, openMatches, pairKey } from "./view.ts";

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
