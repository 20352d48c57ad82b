import type { NewRound } from "#shared/formats/format.ts";

/** The id of a match, unique within its league. `index` is its index in its round, from 0. */
export const matchIdOf = (roundId: number, index: number): string => `R${roundId}M${index + 1}`;

/** The round of a match and its index in it, from the id of the match; null for any other text. */
export function positionOf(matchId: string): { readonly roundId: number; readonly index: number } | null {
  const [, roundId, number] = /^R([1-9]\d*)M([1-9]\d*)$/.exec(matchId) ?? [];
  return number === undefined ? null : { roundId: Number(roundId), index: Number(number) - 1 };
}

/** One round of a schedule, in the form of the event `round_paired`. */
export interface PairedRound {
  /** The number of the round, from 1. */
  readonly round_id: number;
  readonly pairings: readonly PairedMatch[];
  /** The players without a match in this round. */
  readonly byes: readonly string[];
  readonly label?: string;
}

/** The players of a match, in the order of the game's roles. */
interface PairedMatch {
  readonly match_id: string;
  readonly players: readonly string[];
  /** Options of the game for this match. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Numbers new rounds and their matches. `pairedRounds` is the number of rounds that the league has. */
export const numbered = (rounds: readonly NewRound[], pairedRounds = 0): readonly PairedRound[] =>
  rounds.map(({ pairings, byes, label }, index) => {
    const round_id = pairedRounds + index + 1;
    return {
      round_id,
      pairings: pairings.map((players, position) => ({ match_id: matchIdOf(round_id, position), players })),
      byes,
      ...(label !== undefined && { label }),
    };
  });
