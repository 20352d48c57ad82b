import { findGame } from "#shared/games/registry.ts";
import type { LeagueView, MatchView, PlayView } from "#shared/web/league-view.ts";
import type { Awaited } from "../agents/awaited-players.ts";
import type { League } from "../league/league.ts";
import { waitingText } from "../projections/lines.ts";
import { nextMatch, playState, type StateContext, shownMatch } from "./hosted-state.ts";

/** Returns the players and referees that a league waits for, or null. */
export type Awaiting = (league: League) => Awaited | null;

/** The number of rows of standings and of matches that the page shows. */
const MAX_ROWS = 100;
const MAX_MATCHES = 20;

/** Returns the state of a hosted player for its page. */
export function pageState(context: StateContext, awaiting: Awaiting, playerId: string): PlayView {
  const { hosted, projections } = context;
  const { next, name } = playState(context, playerId);
  const turns = hosted.turns(playerId);
  const open = new Set(turns.map(({ ref }) => ref));
  const others = [...hosted.player(playerId).matches].reverse().filter(([ref]) => !open.has(ref));
  const shown = [...turns.map(({ ref, match }) => [ref, match] as const), ...others].slice(0, MAX_MATCHES);
  const leagues = projections.leagues().filter(({ entrants }) => entrants.has(playerId));
  return {
    ...{ version: hosted.version(playerId), player_id: playerId, name, is_over: next === "league_over" },
    matches: shown.map(([ref, match]): MatchView => shownMatch(context, ref, match)),
    leagues: leagues.map((league) => leagueView(context, awaiting, league, playerId)),
  };
}

function leagueView({ projections }: StateContext, awaiting: Awaiting, league: League, playerId: string): LeagueView {
  const { leagueId, game, status } = league;
  const awaited = awaiting(league);
  return {
    league_id: leagueId,
    game_name: findGame(game)?.info.name ?? game,
    status,
    waiting: awaited ? waitingText(awaited) : "",
    next_match: nextMatch(projections, league, playerId),
    standings: projections
      .standings(league)
      .slice(0, MAX_ROWS)
      .map(({ rank, player_id, display_name, played, points }) => ({ rank, player_id, display_name, played, points })),
  };
}
