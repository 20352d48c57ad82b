import { MAX_FAILS } from "#shared/protocol/lifecycle.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { isTieBreakId, tieBreakColumns, tieBreakOf } from "#shared/standings/tie-breaks.ts";
import type {
  FormMark,
  PlayerDocument,
  StandingRow,
  StandingsDocument,
  TeamRow,
} from "#shared/web/league-documents.ts";
import type { Agent } from "../../agents/registered-agent.ts";
import { matchOf } from "../../league/evolve.ts";
import type { League } from "../../league/league.ts";
import { markOf } from "../../projections/player-matches.ts";
import type { Projections } from "../../projections/projections.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  headerOf,
  matchRow,
  pageOf,
  playerRef,
} from "./document.ts";

const MAX_TEAMS = 100;

export const standings = {
  page: "standings",
  path: "standings",
  title: ({ league }: StandingsDocument) => `Standings – ${league.league_id}`,
  read: standingsDocument,
} satisfies DocumentKind;

/** Returns one page of the standings. */
export function standingsDocument(context: DocumentContext, { league, query }: DocumentRequest): StandingsDocument {
  const { projections } = context.views;
  const all = projections.standings(league);
  const { rows, ...page } = pageOf(all, query);
  const [last] = lastResults(projections, league, 1);
  return {
    league: headerOf(context, league),
    ...page,
    tie_breaks: tieBreakColumns(all).map((column) => ({
      ...column,
      rule: isTieBreakId(column.id) ? tieBreakOf(column.id).rule : "",
    })),
    has_byes: all[0]?.byes !== undefined,
    rows: standingRows(projections, league, rows),
    teams: teamRows(projections, league, MAX_TEAMS),
    last_result: last ?? null,
  };
}

/** Returns players as the standings show them. */
export function standingRows(
  projections: Projections,
  league: League,
  rows: readonly Standing[],
): readonly StandingRow[] {
  return rows.map((row) => ({
    ...playerRef(projections, row.player_id),
    ...countsOf(projections, league, row),
    byes: row.byes ?? 0,
    tie_breaks: Object.values(row.tie_breaks ?? {}),
    presence: presenceOf(projections, league, row.player_id),
    form: formOf(projections, league, row.player_id),
  }));
}

/** Returns the first teams of the standings; null if each player plays for itself. */
export function teamRows(projections: Projections, league: League, maximum: number): readonly TeamRow[] | null {
  const teams = projections.teamStandings(league)?.slice(0, maximum);
  return (
    teams?.map((row) => ({
      team_id: row.player_id,
      ...countsOf(projections, league, row),
      members: row.members.map((playerId) => playerRef(projections, playerId)),
    })) ?? null
  );
}

function countsOf(projections: Projections, league: League, row: Standing) {
  const { rank, points, played, wins, draws, losses } = row;
  const earlier = projections.earlierRanks(league)?.get(row.player_id);
  return { rank, movement: earlier === undefined ? null : earlier - rank, points, played, wins, draws, losses };
}

function presenceOf(projections: Projections, league: League, playerId: string): StandingRow["presence"] {
  const agent = projections.agent(playerId);
  const departure = departureOf(league, playerId, agent);
  if (departure) return departure;
  return league.status === "running" && agent?.state === "SUSPENDED" ? "suspended" : "present";
}

/** Returns the last results of a player. An aborted or annulled match has no result. */
function formOf(projections: Projections, league: League, playerId: string): readonly FormMark[] {
  return projections
    .recentMatches(league)
    .of(playerId)
    .flatMap((match_id): FormMark[] => {
      const match = matchOf(league, match_id);
      const result = match ? markOf(match, match.players.indexOf(playerId)) : "none";
      return result === "none" ? [] : [{ match_id, result }];
    });
}

/** Returns the matches of a league that were completed last, the latest first. */
export const lastResults = (projections: Projections, league: League, maximum: number) =>
  projections
    .recentMatches(league)
    .all()
    .slice(0, maximum)
    .flatMap((matchId) => {
      const match = matchOf(league, matchId);
      return match?.status === "completed" ? [matchRow(projections, league, match)] : [];
    });

/** What happens with the matches of a player that no longer plays. A round robin has paired them at the start. */
function laterMatches({ rounds, currentRound, status }: League, playerId: string): string {
  if (status === "completed") return "";
  const later = rounds.slice(currentRound ?? rounds.length);
  const isPaired = later.some(({ matches }) => matches.some(({ players }) => players.includes(playerId)));
  return isPaired ? " It forfeits its matches of later rounds." : " It is not paired any more.";
}

const DEPARTURES = {
  removed: "Removed by the operator.",
  shut_down: `Shut down: it did not answer in ${MAX_FAILS} matches in a row.`,
  left: "Has left the league.",
} as const;

/** Returns why a player no longer plays in a league; null while it does. `agent` is null if its personal data are erased. */
function departureOf(
  { departed, status }: League,
  playerId: string,
  agent: Agent | null,
): "removed" | "shut_down" | "left" | null {
  const isShutDown = agent?.state === "SHUTDOWN" && status !== "completed";
  if (!departed.includes(playerId) && !isShutDown) return null;
  if (!agent || agent.isRemoved) return "removed";
  return agent.fails >= MAX_FAILS ? "shut_down" : "left";
}

/** The state of a player of a league in words. `agent` is null if its personal data are erased. */
export function playerState(league: League, playerId: string, agent: Agent | null): PlayerDocument["state"] {
  const attention = (text: string) => ({ text, needs_attention: true });
  if (!agent) return attention("Removed; its name and its address are erased.");
  const departure = departureOf(league, playerId, agent);
  if (departure) return attention(`${DEPARTURES[departure]}${laterMatches(league, playerId)}`);
  if (league.status === "completed") return { text: "The league is completed.", needs_attention: false };
  if (league.status === "open") return { text: "Registered. The league has not started.", needs_attention: false };
  if (agent.state === "SUSPENDED")
    return attention(
      `Suspended: it did not answer in its last ${agent.fails === 1 ? "match" : `${agent.fails} matches`}. It is active again when it answers the health check of the league or registers again. After ${MAX_FAILS} such matches in a row it is shut down.`,
    );
  if (agent.fails > 0)
    return attention(
      `Active again. It did not answer in its last ${agent.fails === 1 ? "match" : `${agent.fails} matches`}; after ${MAX_FAILS} in a row it is shut down.`,
    );
  return { text: "Active.", needs_attention: false };
}
