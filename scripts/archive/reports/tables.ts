import { parseEntry } from "#shared/session/entry.ts";
import type { CrosstableResult } from "#shared/standings/crosstable.ts";
import { publicReason } from "../../../league-manager/league/outcome.ts";
import type { Cell } from "./csv.ts";
import type { ReportLeague } from "./report-run.ts";
import type { Results } from "./results.ts";

/** A table with one header for the rows of all leagues. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>;
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

/**
 * Returns the crosstables of all leagues. The column `vs_2` has the points against the player with the number 2 of the same league, empty without a
 * match.
 */
export function crosstableTable(leagues: readonly LeagueResults[]): Table {
  const size = Math.max(0, ...leagues.map(({ results }) => results.crosstable.players.length));
  const numbers = Array.from({ length: size }, (_, index) => index + 1);
  const rows = leagues.flatMap(({ league, results: { crosstable } }) =>
    crosstable.players.map(({ player_id, display_name, points }, index): readonly Cell[] => [
      ...[league.league_id, index + 1, player_id, display_name, points],
      ...numbers.map((n) => pointsIn(crosstable.results[index]?.[n - 1] ?? [])),
    ]),
  );
  const columns = ["league", "number", "player_id", "display_name", "points", ...numbers.map((n) => `vs_${n}`)];
  return { columns, rows };
}

/** A league with its results. */
interface LeagueResults {
  readonly league: ReportLeague;
  readonly results: Results;
}

const pointsIn = (results: readonly CrosstableResult[]): number | null =>
  results.length === 0 ? null : results.reduce((sum, { points }) => sum + points, 0);

/** Returns the ratings of all leagues, the strongest player of each league first. */
export function ratingsTable(leagues: readonly LeagueResults[]): Table {
  const rows = leagues.flatMap(({ league: { league_id, players }, results: { ratings } }) => {
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    return ratings.rows.map(({ player, rating, error, matches, percent }): readonly Cell[] => [
      ...[
        league_id,
        player,
        names.get(player) ?? player,
        rating,
        error,
        rounded(rating - error),
        rounded(rating + error),
      ],
      ...[matches, percent, ratings.model],
    ]);
  });
  return { columns: RATING_COLUMNS, rows };
}

const RATING_COLUMNS = [
  ...[
    "league",
    "player_id",
    "display_name",
    "rating",
    "error_95",
    "lower_95",
    "upper_95",
    "matches",
    "percent",
    "model",
  ],
];

const rounded = (value: number): number => Math.round(value * 10) / 10;

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

async function* matchRows(leagues: readonly ReportLeague[], roleCount: number): AsyncIterable<readonly Cell[]> {
  for (const { players, matches } of leagues) {
    const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    for await (const match of matches()) {
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
