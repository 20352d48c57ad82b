import { invariant } from "#shared/lib/result.ts";
import { rotation } from "./rotation.ts";

/** One round of a schedule, in the form of the event `round_paired`. */
export interface PairedRound {
  /** The number of the round, from 1. */
  readonly round_id: number;
  readonly pairings: readonly Pairing[];
  /** The players without a match in this round. */
  readonly byes: readonly string[];
}

/** The players of a match, in the order of the game's roles. */
export interface Pairing {
  readonly match_id: string;
  readonly players: readonly string[];
}

/** The id of a match, unique within its league. `index` is its index in its round, from 0. */
export const matchIdOf = (roundId: number, index: number): string => `R${roundId}M${index + 1}`;

/** The round of a match and its index in it, from the id of the match; null for any other text. */
export function positionOf(matchId: string): { readonly roundId: number; readonly index: number } | null {
  const [, roundId, number] = /^R([1-9]\d*)M([1-9]\d*)$/.exec(matchId) ?? [];
  return number === undefined ? null : { roundId: Number(roundId), index: Number(number) - 1 };
}

/**
 * The complete schedule of these players, numbered in the order of the list. A game of two roles uses the Berger tables: every player meets every
 * other player once. A game of more roles uses `rotation`. With fewer players than roles there are no rounds. Throws if a player is repeated.
 */
export function roundRobin(playerIds: readonly string[], roleCount: number): readonly PairedRound[] {
  invariant(new Set(playerIds).size === playerIds.length, "a player is listed once in a schedule");
  if (playerIds.length < roleCount) return [];
  const rounds = roleCount === 2 ? bergerRounds(playerIds) : rotation(playerIds, roleCount);
  return rounds.map(({ tables, byes }, index) => ({
    round_id: index + 1,
    pairings: tables.map((players, matchIndex) => ({ match_id: matchIdOf(index + 1, matchIndex), players })),
    byes,
  }));
}

/** The players of each match of a round, and the players without a match. */
export interface Tables {
  readonly tables: readonly (readonly string[])[];
  readonly byes: readonly string[];
}

/** With an odd number of players the highest number of the tables is vacant, as in the FIDE tables. Its opponent has the bye. */
const DUMMY = null;

/**
 * The Berger tables (FIDE Handbook C.05, Annex 1). The first-named player has the first role. With an odd number of players each has both roles
 * equally often; with an even number the two counts differ by one.
 */
function bergerRounds(playerIds: readonly string[]): readonly Tables[] {
  const seats: (string | null)[] = playerIds.length % 2 === 0 ? [...playerIds] : [...playerIds, DUMMY];
  return Array.from({ length: seats.length - 1 }, (_, index) => {
    const pairs = bergerRound(seats, index);
    return {
      tables: pairs.filter((pair): pair is readonly [string, string] => !pair.includes(DUMMY)),
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
