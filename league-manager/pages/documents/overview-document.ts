import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { Joining, OverviewDocument, PlayerRef, TestResult } from "#shared/web/league-documents.ts";
import { currentMatches, type League } from "../../league/league.ts";
import type { Projections } from "../../projections/projections.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  headerOf,
  matchRow,
  playerRef,
} from "./document.ts";
import { lastResults, standingRows, teamRows } from "./standings-document.ts";

/** As many rows as a projector shows at once. */
const MAX_LEADERS = 20;
const MAX_PLAYING = 12;
const MAX_RESULTS = 12;

export const overview = {
  page: "overview",
  path: "",
  title: ({ league }: OverviewDocument) => league.league_id,
  read: overviewDocument,
} satisfies DocumentKind;

/** Returns the first page of a league. */
function overviewDocument(context: DocumentContext, { league }: DocumentRequest): OverviewDocument {
  const { projections } = context.views;
  const playing = currentMatches(league).filter(({ status }) => status === "assigned");
  return {
    league: headerOf(context, league),
    leaders: standingRows(projections, league, projections.standings(league).slice(0, MAX_LEADERS)),
    teams: teamRows(projections, league, MAX_LEADERS),
    winners: winnersOf(projections, league),
    playing: playing.slice(0, MAX_PLAYING).map((match) => matchRow(projections, league, match)),
    playing_count: playing.length,
    results: lastResults(projections, league, MAX_RESULTS),
    joining: joiningOf(context, league),
    test: testOf(projections, league),
  };
}

function winnersOf(projections: Projections, league: League): readonly PlayerRef[] {
  if (league.status !== "completed" || league.completedCount === 0) return [];
  const teams = projections.teamStandings(league);
  const ids = teams
    ? teams.filter(({ rank }) => rank === 1).flatMap(({ members }) => members)
    : projections.standings(league).flatMap(({ rank, player_id }) => (rank === 1 ? [player_id] : []));
  return ids.map((playerId) => playerRef(projections, playerId));
}

function joiningOf({ joining, views }: DocumentContext, league: League): Joining | null {
  if (!joining.takesPlayers(league)) return null;
  const { addresses, needsJoinCode, takesPlayers } = joining;
  // Without the name of the league, the program also enters the leagues that are opened later.
  const names_league = views.projections.leagues().filter(takesPlayers).length > 1;
  return { addresses: addresses(), program: LEAGUE_COMMAND, needs_join_code: needsJoinCode, names_league };
}

function testOf(projections: Projections, league: League): TestResult | null {
  const result = projections.result(league);
  return result && { text: result.text, pairs: result.pairs, is_decided: result.state !== "continue" };
}
