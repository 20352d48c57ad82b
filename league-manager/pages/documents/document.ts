import { reasonInWords, spoken, withoutVersion } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import {
  type LeagueHeader,
  type MatchRow,
  PAGE_ROWS,
  type PageOf,
  type PlayerRef,
  type Section,
} from "#shared/web/league-documents.ts";
import type { LeaguePage } from "#shared/web/page-files.ts";
import { formatOf, formatText, plannedRounds } from "../../league/format-view.ts";
import { endOfRound, type League, type Match, type Round } from "../../league/league.ts";
import { CANCELLED, publicReason, restartReason, summaryOf } from "../../league/outcome.ts";
import { detailText, resultText, waitingText } from "../../projections/live-lines.ts";
import type { Projections, Views } from "../../projections/projections.ts";
import type { MatchRelay } from "../matches/match-relay.ts";
import type { StoredMatches } from "../matches/stored-match.ts";

/** The data from which documents are computed. */
export interface DocumentContext {
  readonly views: Views;
  readonly matches: Matches;
  /** How players join the leagues of this manager. */
  readonly joining: {
    readonly needsJoinCode: boolean;
    /** Whether a further player can enter a league. */
    readonly takesPlayers: (league: League) => boolean;
    /** The addresses of the manager, those for other machines first: "http://192.168.0.7:8000". */
    readonly addresses: () => readonly string[];
  };
}

/** The matches that pages show: those that are being played, from their referees, and the completed ones, from their logs. */
export interface Matches {
  readonly relay: Pick<MatchRelay, "watch" | "read">;
  readonly stored: Pick<StoredMatches, "find" | "replay">;
}

/** A request for a document. */
export interface DocumentRequest {
  readonly league: League;
  /** The variable parts of the path apart from the league. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/**
 * A document of a league that a page shows: `GET /api/leagues/{league_id}/{path}`, as JSON or live. It is computed from the state of
 * the manager and stores nothing.
 */
export interface DocumentKind {
  /** The page that shows the document. */
  readonly page: LeaguePage;
  /** The path below the league as Express writes it: "" or "matches/:match". The page has the same path without `/api`. */
  readonly path: string;
  /** The title of the page. */
  title(document: object): string;
  /** Returns what the page shows without JavaScript, as short texts below each other. A page without this function shows the standings. */
  summary?(document: object): readonly string[];
  /** Returns the document, or null if it does not exist. */
  read(context: DocumentContext, request: DocumentRequest): object | null | Promise<object | null>;
  /**
   * Called when the first reader opens the live document, for documents that depend on more than the events of the league. Calls `changed` after each
   * change. Returns a function that ends this; it is called when the last reader has left.
   */
  watch?(context: DocumentContext, request: DocumentRequest, changed: () => void): () => void;
}

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

/** Returns a function that computes a value of a round only once. Rounds are never changed in place, so after a result only its round is new. */
export function perRound<T>(compute: (round: Round) => T): (round: Round) => T {
  const known = new WeakMap<Round, T>();
  return (round) => {
    let value = known.get(round);
    if (value === undefined) {
      value = compute(round);
      known.set(round, value);
    }
    return value;
  };
}
