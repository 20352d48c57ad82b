import { parseEntry } from "#shared/session/entry.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import type { Cell } from "./csv.ts";
import type { ReportLeague } from "./report-run.ts";

/** A table with one header for the rows of all leagues. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly Cell[]>;
}

/** Returns the standings of all leagues. The tie-breaks of a league are columns, empty in the rows of leagues without them. */
export function standingsTable(leagues: readonly ReportLeague[]): Table {
  const rows = leagues.flatMap(({ league_id, standings }) =>
    standings.map(({ tie_breaks, ...row }) => ({ league: league_id, ...row, ...fieldsOf(tie_breaks) })),
  );
  return tableOf(["league", ...STANDINGS_COLUMNS], rows);
}

const STANDINGS_COLUMNS = ["rank", "player_id", "display_name", "played", "wins", "draws", "losses", "points"] as const;

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** Returns a table with these columns first and then all other fields of the rows. */
function tableOf(first: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): Table {
  const columns = [...new Set([...first, ...rows.flatMap((row) => Object.keys(row))])];
  return { columns, rows: rows.map((row) => columns.map((column) => cellOf(row[column]))) };
}

const cellOf = (value: unknown): Cell =>
  value === undefined || value === null
    ? null
    : typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? value
      : JSON.stringify(value);

/** Returns the completed matches of all leagues in the order of their rounds. Each role has four columns. */
export function matchesTable(leagues: readonly ReportLeague[]): Table {
  const roleCount = Math.max(2, ...leagues.map(({ roles }) => roles.length));
  const numbers = Array.from({ length: roleCount }, (_, index) => index + 1);
  const roleColumns = numbers.flatMap((n) => [`role_${n}`, `player_${n}`, `name_${n}`, `points_${n}`]);
  return { columns: [...MATCH_COLUMNS, ...roleColumns], rows: matchRows(leagues, roleCount) };
}

const MATCH_COLUMNS = [
  ...["league", "game", "round", "match_id", "epoch", "referee_id", "started_at", "ended_at", "actions"],
  ...["winner", "termination", "reason"],
] as const;

function* matchRows(leagues: readonly ReportLeague[], roleCount: number): Iterable<readonly Cell[]> {
  for (const { players, matches } of leagues) {
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    for (const match of matches()) {
      const { league_id, game, round_id, match_id, epoch, referee_id, winner, termination, match_points } = match;
      const entries = match.log.map(parseEntry);
      const actions = entries.filter(({ type }) => type === "acted").length;
      const times = [entries.at(0)?.at ?? null, entries.at(-1)?.at ?? null];
      const roles = Object.entries(match.roles).flatMap(([role, id]): Cell[] => [
        ...[role, id, names.get(id) ?? id, match_points[id] ?? null],
      ]);
      const noRoles = Array.from({ length: roleCount * 4 - roles.length }, () => null);
      yield [
        ...[league_id, game, round_id, match_id, epoch, referee_id, ...times, actions],
        ...[winner, termination, publicReason(match), ...roles, ...noRoles],
      ];
    }
  }
}
