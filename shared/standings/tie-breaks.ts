import type { History, HistoryEntry, PlayerHistory } from "./history.ts";

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

// The tie-breaks that measure the strength of the opponents: FIDE Handbook C.07 (2023), articles 8, 9 and 16.

/** The sum of the points of all opponents. */
function buchholz(player: PlayerHistory, history: History): number {
  return total(player, history, () => 1);
}

/** Buchholz without the lowest contribution. Rounds that the player did not play although it could have are left out first (article 16.5). */
function buchholzCut1(player: PlayerHistory, history: History): number {
  return sum(withoutLeast(contributions(player, history)));
}

/** Buchholz without the lowest and the highest contribution. */
function medianBuchholz(player: PlayerHistory, history: History): number {
  const rest = withoutLeast(contributions(player, history));
  return rest.length === 0 ? 0 : sum(rest) - Math.max(...rest.map(({ points }) => points));
}

/** The sum of the points of the opponents, each multiplied by the result: 1 for a win, a half for a draw. */
function sonnebornBerger(player: PlayerHistory, history: History): number {
  return total(player, history, ({ share }) => share);
}

interface Contribution {
  readonly points: number;
  readonly entry: HistoryEntry;
}

const sum = (list: readonly Contribution[]): number => list.reduce((total, { points }) => total + points, 0);

const withoutLeast = (list: readonly Contribution[]): readonly Contribution[] =>
  list
    .toSorted((a, b) => Number(a.entry.isVoluntary) - Number(b.entry.isVoluntary) || b.points - a.points)
    .slice(0, -1);

/** The sum of all contributions, each multiplied by a weight. A large league computes it for every player after each result, so it creates no list. */
function total(player: PlayerHistory, history: History, weightOf: (entry: HistoryEntry) => number): number {
  let result = 0;
  for (const entry of player.entries) {
    const weight = weightOf(entry);
    if (isReplaced(entry, history)) result += weight * player.points;
    else for (const id of entry.opponents) result += weight * pointsOf(id, history);
  }
  return result;
}

/** The points of each opponent, with its match. */
const contributions = (player: PlayerHistory, history: History): readonly Contribution[] =>
  player.entries.flatMap((entry): readonly Contribution[] =>
    isReplaced(entry, history)
      ? [{ points: player.points, entry }]
      : entry.opponents.map((id) => ({ points: pointsOf(id, history), entry })),
  );

/**
 * Returns true if a round that the player did not play counts as a match against an opponent that ends with the points of the player (article 16.4).
 * Without adjustment, in a round robin, a bye counts nothing, and a forfeited match counts like a played one.
 */
const isReplaced = ({ isPlayed }: HistoryEntry, { isAdjusted }: History): boolean => isAdjusted && !isPlayed;

const pointsOf = (playerId: string, { players }: History): number => players.get(playerId)?.adjustedPoints ?? 0;

/**
 * The points of the matches among the tied players: FIDE Handbook C.07 (2023), article 6. If some of them have not met, a player is placed first only if
 * no result of the missing matches could change that; then the same is applied to the others. The value of a player that cannot be placed is null.
 */
function headToHead(tied: readonly string[], history: History): readonly (number | null)[] {
  const placed = new Map<string, number>();
  let open = tied;
  while (open.length > 1) {
    const scores = scoresAmong(open, history);
    if (scores.every(({ missing }) => missing === 0)) {
      for (const { playerId, points } of scores) placed.set(playerId, points);
      break;
    }
    const first = scores.find(({ playerId, points }) =>
      scores.every((other) => other.playerId === playerId || other.points + other.missing * history.scale.win < points),
    );
    if (!first) break;
    placed.set(first.playerId, first.points);
    open = open.filter((playerId) => playerId !== first.playerId);
  }
  return tied.map((playerId) => placed.get(playerId) ?? null);
}

interface Score {
  readonly playerId: string;
  /** The points of the matches against the other tied players. */
  readonly points: number;
  /** The number of tied players that the player has not met. */
  readonly missing: number;
}

function scoresAmong(tied: readonly string[], { players }: History): readonly Score[] {
  const isTied = new Set(tied);
  return tied.map((playerId) => {
    const met = new Set<string>();
    let points = 0;
    for (const entry of players.get(playerId)?.entries ?? []) {
      if (!entry.isPlayed) continue;
      const others = entry.opponents.filter((opponent) => isTied.has(opponent));
      if (others.length > 0) points += entry.points;
      for (const other of others) met.add(other);
    }
    return { playerId, points, missing: tied.length - 1 - met.size };
  });
}
