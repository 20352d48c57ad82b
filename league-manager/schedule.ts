import type { Role } from "#shared/games/game.ts";
import { invariant } from "#shared/lib/result.ts";

/** Two players who meet; match ids are `R{round}M{n}`, unique within a league. */
export interface Pairing {
  readonly match_id: string;
  readonly roles: Readonly<Record<Role, string>>;
}

export interface Round {
  /** From 1. */
  readonly round_id: number;
  readonly matches: readonly Pairing[];
  /** Who sits this round out; null when the number of players is even. */
  readonly bye: string | null;
}

/** A seat of the table for the player that an odd number lacks: the highest number, as FIDE has it. */
const DUMMY = null;

/**
 * Every player meets every other once, by the Berger tables (FIDE Handbook C.05, Annex 1): the first-named player takes the
 * first role. Players are numbered as listed. Each gets both roles equally often within one; with an odd number, whose
 * players all have an even number of games, exactly equally often. Fewer than two players have no rounds.
 */
export function roundRobin(playerIds: readonly string[], roles: readonly [Role, Role]): readonly Round[] {
  invariant(new Set(playerIds).size === playerIds.length, "a player is listed once in a schedule");
  if (playerIds.length < 2) return [];
  const seats: (string | null)[] = playerIds.length % 2 === 0 ? [...playerIds] : [...playerIds, DUMMY];
  return Array.from({ length: seats.length - 1 }, (_, index) => roundOf(index + 1, bergerRound(seats, index), roles));
}

function roundOf(roundId: number, tables: readonly Table[], roles: readonly [Role, Role]): Round {
  const matches: Pairing[] = [];
  let bye: string | null = null;
  for (const [first, second] of tables) {
    if (first === DUMMY || second === DUMMY) bye = first ?? second;
    else {
      matches.push({
        match_id: `R${roundId}M${matches.length + 1}`,
        roles: { [roles[0]]: first, [roles[1]]: second },
      });
    }
  }
  return { round_id: roundId, matches, bye };
}

type Table = readonly [first: string | null, second: string | null];

/**
 * One row of the Berger table, tables in published order. The last seat stays where it is and changes colour every round; the
 * others stand on a circle that turns by half their number, and meet across it.
 */
function bergerRound(seats: readonly (string | null)[], index: number): readonly Table[] {
  const circle = seats.length - 1;
  const top = (index * (seats.length / 2)) % circle;
  const seat = (place: number): string | null => seats[(place + circle) % circle] as string | null;
  const last = seats[circle] as string | null;
  const across = Array.from({ length: seats.length / 2 - 1 }, (_, k): Table => [seat(top + k + 1), seat(top - k - 1)]);
  return [index % 2 === 0 ? [seat(top), last] : [last, seat(top)], ...across];
}
