import type { ZodType } from "zod";
import { type List, listSummary } from "#shared/lib/list.ts";
import type { SprtStatus } from "#shared/statistics/sprt.ts";
import type { Bracket } from "./bracket.ts";

/** A match of a league, as far as a format may know it. The league's own matches have this form. */
export interface FormatMatch {
  readonly matchId: string;
  /** Player ids in the order of the game's roles. */
  readonly players: readonly string[];
  /** Null until the match is completed. `points` has 3, 1 or 0 by seat, and is empty for an aborted or annulled match. */
  readonly outcome: {
    readonly points: readonly number[];
    readonly scores: readonly number[];
    readonly termination: "normal" | "forfeit" | "aborted";
  } | null;
}

/** A round of a league, as far as a format may know it. */
export interface FormatRound {
  /** From 1, without gaps. */
  readonly roundId: number;
  readonly matches: readonly FormatMatch[];
  /** The players that have a bye in this round. */
  readonly byes: readonly string[];
}

/** A player of a league, as far as a format may know it. */
export interface FormatPlayer {
  readonly playerId: string;
  /** The number of rounds that were paired when the player entered: 0, or more for a late entry. */
  readonly enteredAfter: number;
  /** Whether the player has left the league, or was removed. A format pairs it no more. */
  readonly hasLeft: boolean;
}

/** What a format knows of a league. */
export interface LeagueView {
  /** The source of all random choices of the format: the seed of the league. */
  readonly seed: string;
  /** The number of roles of the game. */
  readonly roleCount: number;
  /** The players in the order of their seeding, the first seed first. Late entries come last. */
  readonly players: readonly FormatPlayer[];
  /** All rounds that are paired so far. */
  readonly rounds: List<FormatRound>;
  /** Whether the operator has ended the league, so that no further match is played. */
  readonly isEnded?: boolean;
}

/** A round that a format adds. A player is in several pairings of a round only if the format has legs or opens its rounds at once. */
export interface NewRound {
  /** The players of each match, in the order of the game's roles. The legs of a pairing follow each other. */
  readonly pairings: readonly (readonly string[])[];
  readonly byes: readonly string[];
  /** The name of the round for people, if it has one: "Final". */
  readonly label?: string;
}

/** The next step of a league: rounds to add, nothing before another match is completed, or no more rounds at all. */
export type Next = { readonly rounds: readonly NewRound[] } | "wait" | "completed";

/** The result of a format that tests a hypothesis. The ratio and its bounds are rounded. */
export interface FormatResult extends SprtStatus {
  /** How often the player under test has 0, ½, 1, 1½ and 2 points in a pair of matches with swapped roles. */
  readonly pairs: readonly number[];
  /** The result as a sentence. */
  readonly text: string;
}

/**
 * A way to pair the players of a league. A format is pure: its results depend on its arguments alone, and random choices derive from `view.seed`.
 *
 * `contract.test.ts` checks these obligations for every format of the registry:
 * - with at least as many players as roles, `next` returns rounds at the start, and "completed" after finitely many matches (formats that never
 *   end by themselves: when `view` has the number of matches of their options);
 * - it pairs players of the view that have not left, each player at most once in a match, and gives no bye to a player with a match in that round;
 * - it returns at least one pairing in each round;
 * - a format that opens its rounds at once returns no round without a free slot: all rounds but the last have fewer matches than `slots`;
 * - it accepts forfeits, double forfeits, aborted matches, late entries and players that leave at any time, and ends all the same;
 * - `remaining` is never lower than the number of matches that are still to come without late entries;
 * - once a round is paired, `ranking`, `remaining` and `result` do not depend on the seed: they are read before the seed is revealed.
 */
export interface Format<Options = unknown> {
  /** The id in configs and events: "swiss". */
  readonly id: string;
  /** The name for people: "Swiss system". */
  readonly name: string;
  /** One sentence that describes the pairings. */
  readonly description: string;
  /** Parses options and adds defaults. `options.parse({})` returns the defaults if the format needs no option. */
  readonly options: ZodType<Options>;
  /** The options of a new league, unless its config has others. They name rules that have changed: in logs of earlier leagues, which lack them, the earlier rules apply. */
  readonly optionsOfNew?: Readonly<Record<string, unknown>>;
  /** The options that the operator may raise in a running league: they add matches and change no earlier pairing, result or decision. */
  readonly extendable: readonly string[];
  /** The option that names a player. Configs have the name of the player, and the format receives its id. */
  readonly playerOption?: string;
  /** What the values of an option that is true or false mean, for people: "with a match for the third place". An empty text is not shown. */
  readonly switches?: Readonly<Record<string, { readonly on: string; readonly off: string }>>;
  /** The numbers of roles of the games that can be played: two, or any number. */
  readonly roles: "two" | "any";
  /**
   * `in_order`: a round is opened when all matches of the earlier rounds are completed. `at_once`: a round is opened as soon as it is paired, so that
   * several rounds are played at the same time.
   */
  readonly opensRounds: "in_order" | "at_once";
  /**
   * Whether matches that are open when `next` returns "completed" are cancelled, because the result is decided. Without this property they are played
   * to their end. Only for formats that open their rounds at once.
   */
  readonly cancelsOpenMatches?: true;
  /** Whether the operator may add matches to a running league: they change no later pairing. */
  readonly allowsAddedMatches?: true;
  /** The points of a bye: those of a win in a Swiss system, none if all players have equally many byes or byes do not matter. */
  readonly byePoints: 0 | 3;
  /** The tie-breaks of the standings, if the config names none. */
  readonly tieBreaks: readonly string[];
  /**
   * Returns the next step. It is called at the start, after each completed match and after each change of the players, until it returns "completed".
   * `slots` is the number of matches that can be started now, at least 0.
   */
  next(view: LeagueView, slots: number, options: Options): Next;
  /** Returns the maximum number of matches that are not completed or not paired yet; null if the format never ends by itself. */
  remaining(view: LeagueView, options: Options): number | null;
  /** Returns the number of rounds that the league has at its end, for the display of the progress. Only for formats whose options determine it. */
  plannedRounds?(view: LeagueView, options: Options): number;
  /** Why the format can complete the pairing before the planned number of rounds. */
  readonly earlyEnd?: string;
  /** True if the pairings do not depend on results. A match can then be annulled at any time. */
  readonly ignoresResults?: boolean;
  /** Returns false if the format has no matches for players that enter after the start. Without this function it has. */
  takesLateEntries?(options: Options, roleCount: number): boolean;
  /** The order of the players at the end, by groups of equal rank, for formats whose result is not the order by points (elimination, ladder). */
  ranking?(view: LeagueView, options: Options): readonly (readonly string[])[];
  /** What determines `ranking`, as a sentence for people. */
  readonly rankingText?: string;
  /** The result so far, for formats that test a hypothesis. `nameOf` returns the name of a player of the view. */
  result?(view: LeagueView, options: Options, nameOf: (playerId: string) => string): FormatResult;
  /** The bracket for pages: all ties, their players and matches, and where each player came from (elimination). */
  bracket?(view: LeagueView, options: Options): Bracket;
}

/** The players that can be paired, in the order of their seeding. */
export const activePlayers = (view: LeagueView): readonly string[] =>
  view.players.filter(({ hasLeft }) => !hasLeft).map(({ playerId }) => playerId);

/** All matches, in the order of their pairing. */
export const matchesOf = (view: LeagueView): readonly FormatMatch[] => view.rounds.flatMap(({ matches }) => matches);

const counts = listSummary({
  empty: () => ({ matches: 0, open: 0 }),
  add(sum, { matches }: FormatRound, times) {
    sum.matches += times * matches.length;
    for (const { outcome } of matches) if (outcome === null) sum.open += times;
  },
});

/** The number of matches. */
export const matchCount = ({ rounds }: LeagueView): number => counts(rounds).matches;

/** The number of matches that are not completed. */
export const openMatches = ({ rounds }: LeagueView): number => counts(rounds).open;

/** A key for two players in any order. */
export const pairKey = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
