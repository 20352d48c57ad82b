import { DatabaseSync } from "node:sqlite";
import type { FormatResult } from "#shared/formats/format.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { inReadTransaction } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { parsedOptions } from "../league/format-view.ts";
import type { League, Match, Termination } from "../league/league.ts";
import { rolesOf, summaryOf } from "../league/outcome.ts";
import { type TeamStanding, teamStandingsOf } from "../league/standings-of.ts";
import { loadState } from "../store/manager-state.ts";
import { managerStore } from "../store/manager-store.ts";
import { createProjections, type Projections } from "./projections.ts";
import type { RatingsDocument } from "./ratings.ts";

/** A completed match as `league run --json` prints it. */
export interface CompletedMatch {
  readonly match_id: string;
  readonly round_id: number;
  /** Player ids by role. */
  readonly roles: Readonly<Record<string, string>>;
  readonly winner: string | null;
  /** Match points by player id; empty for an aborted match. */
  readonly points: Readonly<Record<string, number>>;
  readonly termination: Termination;
  readonly reason: string;
  readonly referee_id: string | null;
}

/** The results and standings so far, as `league run --json` prints them. */
export interface ResultsDocument {
  readonly leagues: readonly {
    readonly league_id: string;
    readonly game: string;
    /** The id of the format. */
    readonly format: string;
    /** The options of the format, with their defaults. */
    readonly format_options: Readonly<Record<string, unknown>>;
    readonly status: string;
    readonly matches: readonly CompletedMatch[];
    readonly standings: readonly Standing[];
    /** The standings of the teams; absent if each player plays for itself. */
    readonly teams?: readonly TeamStanding[];
    readonly ratings: RatingsDocument;
    /** The result of a format that tests a hypothesis; absent for other formats and before the start. */
    readonly result?: FormatResult;
  }[];
}

/** Creates the results document of all leagues. */
export const resultsDocument = async ({
  leagues,
  standings,
  ratings,
  result,
}: Pick<Projections, "leagues" | "standings" | "ratings" | "result">): Promise<ResultsDocument> => ({
  leagues: await Promise.all(
    leagues().map(async (league) => ({
      league_id: league.leagueId,
      game: league.game,
      format: league.format,
      format_options: parsedOptions(league) as Record<string, unknown>,
      status: league.status,
      matches: league.rounds.flatMap(({ matches }) => matches.flatMap((match) => completedMatch(league, match) ?? [])),
      standings: standings(league),
      ...teamsOf(league, standings),
      ratings: await ratings(league),
      ...resultField(result(league)),
    })),
  ),
});

/** The field `result` of a document or an event; absent if the format has no result. */
export const resultField = (result: FormatResult | null): { readonly result?: FormatResult } =>
  result === null ? {} : { result };

function teamsOf(
  league: League,
  standingsOf: (league: League) => readonly Standing[],
): { readonly teams?: readonly TeamStanding[] } {
  if (!league.teams) return {};
  const names = new Map(standingsOf(league).map(({ player_id, display_name }) => [player_id, display_name]));
  const teams = teamStandingsOf(league, (playerId) => names.get(playerId) ?? playerId);
  return teams ? { teams } : {};
}

/** Returns the document of a match, or null if the match is not completed. */
export function completedMatch(league: League, match: Match): CompletedMatch | null {
  if (match.outcome === null) return null;
  const { winner, match_points: points, termination, reason } = summaryOf(match);
  return {
    match_id: match.matchId,
    round_id: match.roundId,
    roles: rolesOf(league, match),
    winner,
    points,
    termination,
    reason,
    referee_id: match.refereeId,
  };
}

/** Reads the results document from the file of a manager. The manager may be running. */
export async function storedDocument(config: Pick<Config, "leagues">, storeFile: string): Promise<ResultsDocument> {
  const db = new DatabaseSync(storeFile, { readOnly: true, timeout: 5_000 });
  try {
    const leagueIds = config.leagues.map(({ league_id }) => league_id);
    const loaded = await inReadTransaction(db, () => loadState(managerStore(db, noWriter), leagueIds));
    return await resultsDocument(createProjections(loaded));
  } finally {
    db.close();
  }
}
