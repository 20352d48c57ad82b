import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { messageOf } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { type Crosstable, crosstable } from "#shared/standings/crosstable.ts";
import { type RatingTable, ratingTableWith } from "#shared/statistics/rating-table.ts";
import { rateTeams } from "#shared/statistics/team-ratings.ts";
import { type LeagueEvent, parseLeagueEvent } from "../../../league-manager/league/events.ts";
import { foldLeague } from "../../../league-manager/league/evolve.ts";
import type { League } from "../../../league-manager/league/league.ts";
import { openedRounds, teamStandingsOf } from "../../../league-manager/league/standings-of.ts";
import {
  completedMatches,
  ExportedMatch,
  ExportedRun,
  leagueLogFile,
  MANIFEST,
  matchFile,
  RUN_FILE,
} from "../format.ts";
import { exportedMatch, findStore, readingDatabase, readingRun, type StoredRun, standingsOf } from "../stored-run.ts";

/** A league in a report. */
export interface ReportLeague {
  readonly league_id: string;
  readonly game: string;
  /** The roles of the game; empty if they are not known. */
  readonly roles: readonly string[];
  readonly status: string;
  readonly players: readonly { readonly player_id: string; readonly display_name: string }[];
  /** One row for each player, with its columns by name. */
  readonly standings: readonly Readonly<Record<string, unknown>>[];
  /** The rounds with byes, in their order. Empty if the byes are not known: an export of an earlier version has no log of the league. */
  readonly byes: readonly { readonly round_id: number; readonly players: readonly string[] }[];
  /** The standings of the teams: one row for each team, with the columns of a player. Empty if each player plays for itself, or without a log. */
  readonly teams: ReportLeague["standings"];
  /** Reads the completed matches one after the other, because all logs of a large league do not fit into memory. */
  matches(): Iterable<ExportedMatch> | AsyncIterable<ExportedMatch>;
}

/** Calls `use` with the leagues of a folder: of an export, or of the newest run or the served league of a data folder. Rejects with StartError if the folder has no leagues. */
export async function withLeagues<T>(
  folder: string,
  use: (leagues: readonly ReportLeague[]) => Promise<T>,
): Promise<T> {
  if (existsSync(join(folder, MANIFEST))) return readingExport(folder, () => use(exportedLeagues(folder)));
  return await readingRun(findStore(folder), (run) => use(leaguesOf(run)));
}

/** Calls `use` with the leagues of a PostgreSQL database. Rejects with StartError if it cannot be read. */
export const withLeaguesOfDatabase = <T>(
  url: string,
  use: (leagues: readonly ReportLeague[]) => Promise<T>,
): Promise<T> => readingDatabase(url, (run) => use(leaguesOf(run)));

const leaguesOf = (run: StoredRun): readonly ReportLeague[] =>
  run.leagues.map((stored) => ({
    league_id: stored.league.leagueId,
    game: stored.league.game,
    roles: stored.league.roles,
    status: stored.league.status,
    players: stored.players,
    standings: standingsOf(stored),
    ...byesAndTeams(stored.league, stored.players),
    async *matches() {
      for (const match of completedMatches(stored.league)) yield await exportedMatch(run, stored.league, match);
    },
  }));

/** The leagues of an export. The files are not verified. */
function exportedLeagues(folder: string): readonly ReportLeague[] {
  const run = readExported(folder, RUN_FILE, ExportedRun);
  const hasLogs = run.format === "agent-league.export.v3";
  return run.leagues.map(({ league_id, game, status, players, standings, matches }) => ({
    league_id,
    game,
    status,
    players,
    standings,
    ...byesAndTeams(hasLogs ? foldLeague(readLeagueLog(folder, league_id)) : null, players),
    roles: matches[0] === undefined ? [] : Object.keys(readMatch(folder, league_id, matches[0]).roles),
    *matches() {
      for (const id of matches) yield readMatch(folder, league_id, id);
    },
  }));
}

/** `league` is null if its log is not known. */
function byesAndTeams(league: League | null, players: ReportLeague["players"]): Pick<ReportLeague, "byes" | "teams"> {
  if (!league) return { byes: [], teams: [] };
  const names = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
  const rounds = openedRounds(league).map(({ roundId, byes }) => ({ round_id: roundId, players: byes }));
  return {
    byes: rounds.filter(({ players: withBye }) => withBye.length > 0),
    teams: (teamStandingsOf(league, (id) => names.get(id) ?? id) ?? []).map((row) => ({ ...row })),
  };
}

/** Reads the events of a league in an export. */
export const readLeagueLog = (folder: string, leagueId: string): readonly LeagueEvent[] =>
  readLines(folder, leagueLogFile(leagueId)).map(parseLeagueEvent);

/** Reads the lines of a log in an export. */
export const readLines = (folder: string, file: string): readonly string[] =>
  readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "");

export const readMatch = (folder: string, leagueId: string, matchId: string): ExportedMatch =>
  readExported(folder, matchFile(leagueId, matchId), ExportedMatch);

/** Parses a JSON file of an export. */
export function readExported<T>(folder: string, file: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(JSON.parse(readFileSync(join(folder, file), "utf8")));
  if (parsed.success) return parsed.data;
  throw new Error(`${file}: ${parsed.error.issues.slice(0, 1).map(faultLine).join("")}`);
}

/** Calls `read`. An export is untrusted input: if `read` fails because of its content, it rejects with a StartError that names the folder. */
export async function readingExport<T>(folder: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof StartError) throw thrown;
    const fault = fileFault(thrown) ?? `${folder} is not a sound export: ${inOneLine(messageOf(thrown))}`;
    throw new StartError(`${fault}. "league verify ${folder}" checks the export.`, EXIT.failed);
  }
}

/** The results of a league: who has won against whom, and the ratings that follow. */
export interface Results {
  readonly crosstable: Crosstable;
  readonly ratings: RatingTable;
}

/** Computes the results of a league in one pass over its matches. */
export async function resultsOf({ game, roles, standings, matches }: ReportLeague): Promise<Results> {
  const results: ReturnType<typeof outcomeOf>[] = [];
  for await (const match of matches()) results.push(outcomeOf(match));
  const teams = findGame(game)?.info.teams;
  const seatsOfTeams = teams?.map((team) => team.roles.map((role) => roles.indexOf(role)));
  const teamOfSeat = teams && roles.map((role) => teams.findIndex((team) => team.roles.includes(role)));
  const rows = standings.map(({ player_id, display_name, rank, points }) => ({
    player_id: String(player_id),
    display_name: String(display_name),
    rank: Number(rank),
    points: Number(points),
  }));
  const players = rows.map(({ player_id }) => player_id);
  return {
    crosstable: crosstable(rows, [{ roundId: 0, matches: results, byes: [] }], teamOfSeat),
    ratings: ratingTableWith(
      rateTeams,
      players,
      results.map(({ players, outcome }) => ({ players, points: outcome.points })),
      seatsOfTeams,
    ),
  };
}

/** The parts of a match that its result needs. */
function outcomeOf({ match_id: matchId, roles, match_points, termination, log_head: logHead }: ExportedMatch) {
  const players = Object.values(roles);
  const points = termination === "aborted" ? [] : players.map((id) => match_points[id] ?? 0);
  return { matchId, players, outcome: { points, termination }, logHead };
}
