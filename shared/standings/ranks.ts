import type { History } from "./history.ts";
import type { Standing } from "./standings.ts";
import { columnsOf, inOrder, type TieBreakId, tieBreakOf } from "./tie-breaks.ts";

type Row = Omit<Standing, "rank" | "tie_breaks">;
type Values = ReadonlyMap<string, number | null>;

/** Orders rows by tie-breaks and adds their values. Rows that all tie-breaks leave equal share a rank and keep their order. */
export function rankedByTieBreaks(
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
export function rankedByGroups(
  rows: readonly Standing[],
  ranking: readonly (readonly string[])[],
): readonly Standing[] {
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
