import { buchholz, buchholzCut1, medianBuchholz, sonnebornBerger } from "./buchholz.ts";
import { headToHead } from "./head-to-head.ts";
import type { History, PlayerHistory } from "./history.ts";

/** A rule that orders players with equal points. Higher values come first. */
interface TieBreak {
  /** The heading of the column for people, with at most eight characters. */
  readonly heading: string;
  /** One sentence for the documents. Numbers of articles refer to the FIDE Handbook C.07, "Tie-Break Regulations", of September 2023. */
  readonly rule: string;
  /**
   * How the value is computed: from the row of the standings, from the history of one player, or from the players that all earlier tie-breaks leave
   * equal, in their order. Null if the tie-break does not apply to a player; it then comes after the others.
   */
  readonly compute:
    | { readonly from: "row"; readonly value: (row: CountedRow) => number }
    | { readonly from: "player"; readonly value: (player: PlayerHistory, history: History) => number }
    | {
        readonly from: "tied";
        readonly values: (tied: readonly string[], history: History) => readonly (number | null)[];
      };
}

/** The columns of a row that are counted. */
interface CountedRow {
  readonly points: number;
  readonly wins: number;
  readonly draws: number;
}

/** Every tie-break by its id in configs. */
export const TIE_BREAKS = {
  points: {
    heading: "Points",
    rule: "The points of all matches (3 for a win, 1 for a draw) and byes.",
    compute: { from: "row", value: ({ points }) => points },
  },
  wins: {
    heading: "Won",
    rule: "The number of won matches, including those that the opponent forfeited, without byes.",
    compute: { from: "row", value: ({ wins }) => wins },
  },
  draws: {
    heading: "Drawn",
    rule: "The number of drawn matches.",
    compute: { from: "row", value: ({ draws }) => draws },
  },
  "head-to-head": {
    heading: "Direct",
    rule: "The points of the matches among the tied players, if each pair of them has played (article 6, direct encounter).",
    compute: { from: "tied", values: headToHead },
  },
  "sonneborn-berger": {
    heading: "S-B",
    rule: "The points of the defeated opponents and half of the points of the opponents of drawn matches (article 9.1).",
    compute: { from: "player", value: sonnebornBerger },
  },
  buchholz: {
    heading: "Buchholz",
    rule: "The points of all opponents (article 8.1).",
    compute: { from: "player", value: buchholz },
  },
  "buchholz-cut-1": {
    heading: "BH-C1",
    rule: "Buchholz without the opponent with the fewest points (article 14, Cut-1).",
    compute: { from: "player", value: buchholzCut1 },
  },
  "median-buchholz": {
    heading: "BH-M1",
    rule: "Buchholz without the opponents with the fewest and with the most points (article 14, Median-1).",
    compute: { from: "player", value: medianBuchholz },
  },
  progressive: {
    heading: "Progr.",
    rule: "The sum of the player's points after each round (article 7.5, progressive scores).",
    compute: { from: "player", value: progressive },
  },
  "second-role-matches": {
    heading: "2nd role",
    rule: "The number of played matches in the second role, such as black (article 7.3, games played with black).",
    compute: { from: "player", value: secondRoleMatches },
  },
} as const satisfies Readonly<Record<string, TieBreak>>;

export type TieBreakId = keyof typeof TIE_BREAKS;

/** The ids of all tie-breaks. */
export const TIE_BREAK_IDS = Object.keys(TIE_BREAKS) as readonly TieBreakId[];

/** The tie-breaks of a round robin. */
export const DEFAULT_TIE_BREAKS: readonly TieBreakId[] = ["points", "wins", "draws"];

export const tieBreakOf = (id: TieBreakId): TieBreak => TIE_BREAKS[id];

export const isTieBreakId = (id: string): id is TieBreakId => Object.hasOwn(TIE_BREAKS, id);

/** Returns the tie-breaks in the order in which they are applied: points first, unless they are listed elsewhere. */
export const inOrder = (ids: readonly TieBreakId[]): readonly TieBreakId[] =>
  ids.includes("points") ? ids : ["points", ...ids];

/** The tie-breaks of a list that have a separate column in `tie_breaks`. */
export const columnsOf = (ids: readonly TieBreakId[]): readonly TieBreakId[] =>
  ids.filter((id) => tieBreakOf(id).compute.from !== "row");

/** The columns of the tie-breaks in rows of standings, with their headings. */
export function tieBreakColumns(
  rows: readonly { readonly tie_breaks?: Readonly<Record<string, number | null>> }[],
): readonly { readonly id: string; readonly heading: string }[] {
  const ids = Object.keys(rows[0]?.tie_breaks ?? {});
  return ids.map((id) => ({ id, heading: isTieBreakId(id) ? tieBreakOf(id).heading : id }));
}

/** Returns true if a tie-break of the list depends on the opponents or the order of the results. */
export const needsHistory = (ids: readonly TieBreakId[]): boolean => columnsOf(ids).length > 0;

function progressive({ entries }: PlayerHistory, { roundIds }: History): number {
  const last = roundIds.length;
  const position = new Map(roundIds.map((roundId, index) => [roundId, index]));
  return entries.reduce((sum, { points, roundId }) => sum + points * (last - (position.get(roundId) as number)), 0);
}

function secondRoleMatches({ entries }: PlayerHistory): number {
  return entries.filter(({ isPlayed, seat }) => isPlayed && seat === 1).length;
}
