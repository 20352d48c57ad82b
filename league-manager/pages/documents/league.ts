import { reasonInWords, spoken, withoutVersion } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import type { LeagueHeader, MatchRow, PageOf, PlayerRef, Section } from "#shared/web/documents/league.ts";
import { PAGE_ROWS } from "#shared/web/documents/league.ts";
import { formatOf, formatText, plannedRounds } from "../../league/format-view.ts";
import { endOfRound, type League, type Match } from "../../league/league.ts";
import { CANCELLED, publicReason, restartReason, summaryOf } from "../../league/outcome.ts";
import { detailText, resultText, waitingText } from "../../projections/lines.ts";
import type { Projections } from "../../projections/projections.ts";
import type { DocumentContext } from "./document.ts";

/** Returns what every page of a league shows. */
export function headerOf({ views }: DocumentContext, league: League): LeagueHeader {
  const { projections, awaited } = views;
  const waits = league.status === "open" ? awaited(league) : null;
  return {
    league_id: league.leagueId,
    game: league.game,
    game_name: gameName(league.game),
    format: formatText(league) ?? "",
    status: league.isPaused ? "paused" : league.status,
    players: league.entrants.size,
    departed: league.departed.length,
    ...countsOf(projections, league),
    round: league.currentRound,
    rounds: league.rounds.length,
    planned_rounds: league.status === "open" ? null : plannedRounds(league),
    waiting: waits ? waitingText(waits) : "",
    starts_at: league.status === "open" ? league.startsAt : null,
    round_ends_at: endOfCurrentRound(league),
    sections: sectionsOf(league),
    order: formatOf(league).rankingText ?? "",
  };
}

/** The number of completed matches, and that of all matches. Matches that the end of a league has cancelled do not count. */
function countsOf({ expectedMatches }: Projections, league: League): Pick<LeagueHeader, "completed" | "matches"> {
  if (league.status !== "completed") {
    const { status, completedCount } = league;
    return { completed: completedCount, matches: status === "open" ? null : expectedMatches(league) };
  }
  const played = playedCounts.get(league) ?? playedCount(league);
  playedCounts.set(league, played);
  return { completed: played, matches: played };
}

/** The numbers of played matches of completed leagues, which can have many thousand matches. */
const playedCounts = new WeakMap<League, number>();

const playedCount = ({ rounds }: League): number =>
  rounds.flatMap(({ matches }) => matches).filter(({ outcome }) => outcome?.reason !== CANCELLED).length;

/** Returns the name of a game for people: a part of its id if this process was started without the file of the game. */
export const gameName = (game: string): string => findGame(game)?.info.name ?? withoutVersion(game);

function endOfCurrentRound(league: League): string | null {
  const endMs = league.currentRound === null ? null : endOfRound(league, league.currentRound);
  return endMs === null ? null : new Date(endMs).toISOString();
}

/** Returns the sections of a league that have a page. */
function sectionsOf(league: League): readonly Section[] {
  const hasBracket = formatOf(league).bracket !== undefined;
  return ["standings", "schedule", "crosstable", ...(hasBracket ? (["bracket"] as const) : []), "ratings", "points"];
}

/** Returns a player as pages name it. */
export const playerRef = (projections: Pick<Projections, "agent">, playerId: string): PlayerRef => ({
  player_id: playerId,
  name: projections.agent(playerId)?.name ?? playerId,
});

/** The words of pages for the states of matches. */
export const MATCH_STATUS = { scheduled: "scheduled", assigned: "playing", completed: "completed" } as const;

/** Returns a match as lists show it. */
export function matchRow(projections: Pick<Projections, "agent">, league: League, match: Match): MatchRow {
  const { matchId, roundId, status, epoch, refereeId, players, outcome } = match;
  const nameOf = (id: string): string => playerRef(projections, id).name;
  const points = outcome ? summaryOf(match).match_points : {};
  const result = outcome && { ...outcome, reason: reasonInWords(publicReason(outcome)), points };
  return {
    match_id: matchId,
    round_id: roundId,
    status: MATCH_STATUS[status],
    players: players.map((id, seat) => ({
      ...playerRef(projections, id),
      role: spoken(league.roles[seat] ?? ""),
      points: points[id] ?? null,
    })),
    referee: refereeId === null ? null : nameOf(refereeId),
    result: result && resultText(result, nameOf),
    reason: result && detailText(result, nameOf),
    is_forfeit: outcome?.termination === "forfeit",
    restart: epoch > 1 ? { attempt: epoch, reason: restartReason(match) } : null,
  };
}

/** Returns one page of a list, and its number. A page that does not exist is replaced by the nearest one. */
export function pageOf<T>(
  rows: readonly T[],
  query: URLSearchParams,
  parameter = "page",
): PageOf & { readonly rows: readonly T[] } {
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const requested = Number.parseInt(query.get(parameter) ?? "1", 10) || 1;
  const page = Math.min(pages, Math.max(1, requested));
  return { page, pages, total: rows.length, rows: rows.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS) };
}
