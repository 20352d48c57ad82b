import { compareIds } from "#shared/lib/ids.ts";
import type { List } from "#shared/lib/list.ts";
import { invariant } from "#shared/lib/result.ts";
import { POINTS } from "#shared/session/verdict.ts";
import { type History, historyOf, type StandingsMatch, type StandingsRound } from "./history.ts";
import { columnsOf, DEFAULT_TIE_BREAKS, inOrder, needsHistory, type TieBreakId, tieBreakOf } from "./tie-breaks.ts";

export interface Standing {
  /** The position from 1. Players whose tie-breaks are all equal share a rank; the next rank is skipped. */
  readonly rank: number;
  readonly player_id: string;
  readonly display_name: string;
  /** The number of completed matches, without aborted ones. */
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  /** The number of byes. Absent if no player of the league has had a bye. */
  readonly byes?: number;
  readonly points: number;
  /** The tie-breaks that have no column above, in their order. Null if one does not apply to the player. Absent without such a tie-break. */
  readonly tie_breaks?: Readonly<Record<string, number | null>>;
}

export interface StandingsPlayer {
  readonly player_id: string;
  readonly display_name: string;
}

/** The rules by which a league ranks its players. */
export interface StandingsRules {
  /** The tie-breaks in their order. Points come first, unless they are listed elsewhere. */
  readonly tieBreaks: readonly TieBreakId[];
  /** The points of a bye. If byes give points, Buchholz and Sonneborn-Berger are adjusted for rounds that were not played. */
  readonly byePoints: number;
  /** The number of the team of each seat; absent if each seat forms a team. The members of a team are not opponents. */
  readonly teams?: readonly number[];
}

/** The rules of a round robin. */
export const ROUND_ROBIN_RULES: StandingsRules = { tieBreaks: DEFAULT_TIE_BREAKS, byePoints: 0 };

/** The fields of a recorded match that the points need. */
export interface StandingsResult {
  /** Match points by player id: 3, 1 or 0. */
  readonly points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
}

/** What the standings need besides the results that a tally has counted. */
interface StandingsContext {
  readonly rules?: StandingsRules;
  /** The opened rounds of the counted results. They are read only if a tie-break depends on the opponents or the order of the results. */
  readonly rounds?: () => List<StandingsRound>;
  /** The order of a format that does not rank by points (`Format.ranking`). It takes precedence over points and tie-breaks. */
  readonly ranking?: readonly (readonly string[])[] | undefined;
}

/** Counts the results of a league, each in constant time. */
export interface Tally {
  /** Counts a result. The caller ensures that each result is added once. */
  add(result: StandingsResult): void;
  /** Takes back a result that was added. */
  subtract(result: StandingsResult): void;
  /** Counts a match, or takes it back if `times` is −1. A match that is not completed or is aborted has no points and is not counted. */
  addMatch(match: Pick<StandingsMatch, "players" | "outcome">, times?: 1 | -1): void;
  /** Counts a bye of each of these players. */
  addByes(playerIds: readonly string[]): void;
  /** Returns the standings with one row for each of these players. Players of a result that are not listed have no row. */
  standings(players: readonly StandingsPlayer[], context?: StandingsContext): readonly Standing[];
}

/**
 * Creates a tally without results. A win is 3 points, a draw 1, a loss 0. A match that all players forfeit is a loss for all of them. An aborted match
 * is not counted. The player id decides only the order in which players of equal rank are listed.
 */
export function createTally(): Tally {
  const counts = new Map<string, { wins: number; draws: number; losses: number; byes: number }>();
  let hasByes = false;
  const countOf = (playerId: string) => {
    const count = counts.get(playerId) ?? { wins: 0, draws: 0, losses: 0, byes: 0 };
    counts.set(playerId, count);
    return count;
  };
  const row = ({ player_id, display_name }: StandingsPlayer, byePoints: number): Omit<Standing, "rank"> => {
    const { wins, draws, losses, byes } = counts.get(player_id) ?? { wins: 0, draws: 0, losses: 0, byes: 0 };
    const points = wins * POINTS.win + draws * POINTS.draw + losses * POINTS.loss + byes * byePoints;
    const matches = { played: wins + draws + losses, wins, draws, losses };
    return { player_id, display_name, ...matches, ...(hasByes && { byes }), points };
  };
  return {
    add({ termination, points }) {
      if (termination === "aborted") return;
      for (const [playerId, value] of Object.entries(points)) countOf(playerId)[columnOf(value)] += 1;
    },
    subtract({ points }) {
      for (const [playerId, value] of Object.entries(points)) countOf(playerId)[columnOf(value)] -= 1;
    },
    addMatch({ players, outcome }, times = 1) {
      for (const [seat, points] of (outcome?.points ?? []).entries()) {
        countOf(players[seat] as string)[columnOf(points)] += times;
      }
    },
    addByes(playerIds) {
      for (const playerId of playerIds) countOf(playerId).byes += 1;
      hasByes ||= playerIds.length > 0;
    },
    standings(players, { rules = ROUND_ROBIN_RULES, rounds = () => [], ranking } = {}) {
      const rows = players
        .map((player) => row(player, rules.byePoints))
        .sort((a, b) => compareIds(a.player_id, b.player_id));
      const playerIds = rows.map(({ player_id }) => player_id);
      const history = needsHistory(rules.tieBreaks) ? historyOf(playerIds, rounds(), rules) : null;
      const ranked = rankedByTieBreaks(rows, rules.tieBreaks, history);
      return ranking ? rankedByGroups(ranked, ranking) : ranked;
    },
  };
}

/** Creates a tally of the results and byes of these rounds. */
export function tallyOf(rounds: List<StandingsRound>): Tally {
  const tally = createTally();
  for (const { matches, byes } of rounds) {
    for (const match of matches) tally.addMatch(match);
    tally.addByes(byes);
  }
  return tally;
}

/** The standings of a round robin without byes after these results. */
export function foldStandings(
  players: readonly StandingsPlayer[],
  results: readonly StandingsResult[],
): readonly Standing[] {
  const tally = createTally();
  for (const result of results) tally.add(result);
  return tally.standings(players);
}

function columnOf(points: number): "wins" | "draws" | "losses" {
  if (points === POINTS.win) return "wins";
  if (points === POINTS.draw) return "draws";
  invariant(points === POINTS.loss, `a match gives 3, 1 or 0 points, not ${points}`);
  return "losses";
}

type Row = Omit<Standing, "rank" | "tie_breaks">;
type Values = ReadonlyMap<string, number | null>;

/** Orders rows by tie-breaks and adds their values. Rows that all tie-breaks leave equal share a rank and keep their order. */
function rankedByTieBreaks(
  rows: readonly Row[],
  tieBreaks: readonly TieBreakId[],
  history: History | null,
): readonly Standing[] {
  let groups: readonly (readonly Row[])[] = rows.length > 0 ? [rows] : [];
  const valuesById = new Map<TieBreakId, Values>();
  for (const id of inOrder(tieBreaks)) {
    const values = valuesOf(id, groups, history);
    valuesById.set(id, values);
    groups = groups.flatMap((group) => split(group, values));
  }
  const columns = columnsOf(tieBreaks);
  const columnsFor = (playerId: string) =>
    Object.fromEntries(columns.map((id) => [id, valuesById.get(id)?.get(playerId) ?? null]));
  return ranked(groups, (row) => (columns.length === 0 ? row : { ...row, tie_breaks: columnsFor(row.player_id) }));
}

/** Ranks rows by the groups of a format. Rows without a group come last, and rows of a group keep their order. */
function rankedByGroups(rows: readonly Standing[], ranking: readonly (readonly string[])[]): readonly Standing[] {
  const place = new Map(ranking.flatMap((group, index) => group.map((playerId) => [playerId, -index] as const)));
  return ranked(split(rows, place), (row) => row);
}

/** Makes the rank the first field of a row. */
const FIRST_COLUMN = { rank: 0 };

function ranked<T extends Row>(groups: readonly (readonly T[])[], row: (row: T) => Row): readonly Standing[] {
  let above = 0;
  return groups.flatMap((group) => {
    const rank = above + 1;
    above += group.length;
    return group.map((one) => ({ ...FIRST_COLUMN, ...row(one), rank }));
  });
}

function valuesOf(id: TieBreakId, groups: readonly (readonly Row[])[], history: History | null): Values {
  const { compute } = tieBreakOf(id);
  const values = new Map<string, number | null>();
  for (const group of groups) {
    if (compute.from === "row") {
      for (const row of group) values.set(row.player_id, compute.value(row));
    } else if (history && compute.from === "player") {
      for (const { player_id } of group) {
        const player = history.players.get(player_id);
        if (player) values.set(player_id, compute.value(player, history));
      }
    } else if (history && compute.from === "tied") {
      const tied = group.map(({ player_id }) => player_id);
      for (const [index, value] of compute.values(tied, history).entries()) values.set(tied[index] as string, value);
    }
  }
  return values;
}

/** Splits rows into groups of equal value, the highest first, and rows without a value last. */
function split<T extends Row>(rows: readonly T[], values: Values): readonly (readonly T[])[] {
  // Read once for each row: standings of hundreds of players are sorted after each result.
  const valued = rows.map((row) => ({ row, value: values.get(row.player_id) ?? Number.NEGATIVE_INFINITY }));
  const groups: T[][] = [];
  let valueOfLast: number | null = null;
  for (const { row, value } of valued.sort((a, b) => compare(b.value, a.value))) {
    if (value === valueOfLast) groups.at(-1)?.push(row);
    else groups.push([row]);
    valueOfLast = value;
  }
  return groups;
}

const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
