import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { League } from "../league/league.ts";
import type { Projections } from "../projections/projections.ts";
import { type HostedMatch, matchView } from "./hosted-player.ts";
import type { HostedPlayers } from "./hosted-players.ts";

/** A match as its player sees it. `game` is a `GameView`, which boards draw. */
export const ShownMatch = z.object({
  league_id: z.string(),
  match_id: z.string(),
  game: z.looseObject({ template: z.string(), your_role: z.string(), board: z.string() }),
  seconds_left: z.number().nullable().describe("time left for your move; null if it is not your turn"),
  rejected: z.string().nullable().describe("the reason why your last move in this turn was rejected"),
});
export const ShownLeague = z.object({
  league_id: z.string(),
  game: z.string(),
  game_name: z.string(),
  status: z.enum(["open", "running", "completed"]),
  rank: z.int().nullable(),
  points: z.number(),
  played: z.int(),
  players: z.int(),
  next_match: z.object({ round_id: z.int(), opponents: z.array(z.string()) }).nullable(),
});
export const PlayState = z.object({
  player_id: z.string(),
  name: z.string(),
  next: z.enum(["your_turn", "waiting", "league_over"]),
  turns: z.array(ShownMatch).describe("the matches in which you are to move, the most urgent first"),
  results: z.array(ShownMatch).describe("the matches that have ended since your last call"),
  leagues: z.array(ShownLeague),
});
export type ShownMatch = Omit<z.infer<typeof ShownMatch>, "game"> & { readonly game: GameView };
export type ShownLeague = z.infer<typeof ShownLeague>;
export type PlayState = Omit<z.infer<typeof PlayState>, "turns" | "results"> & {
  readonly turns: readonly ShownMatch[];
  readonly results: readonly ShownMatch[];
};

/** The parts of the manager that the state of a hosted player is computed from. */
export interface StateContext {
  readonly hosted: HostedPlayers;
  readonly projections: Projections;
  readonly clock: Clock;
}

/** Returns the state of a hosted player: its open turns, its new results and its leagues. */
export function playState(context: StateContext, playerId: string): PlayState {
  const { hosted, projections } = context;
  const agent = projections.agent(playerId);
  const turns = hosted.turns(playerId).map(({ ref, match }) => shownMatch(context, ref, match));
  const unreported = [...hosted.player(playerId).matches].filter(([, { result, isReported }]) => result && !isReported);
  const entered = projections.leagues().filter(({ entrants }) => entrants.has(playerId));
  const isOver = agent === null || agent.state === "SHUTDOWN" || entered.every(({ status }) => status === "completed");
  return {
    player_id: playerId,
    name: agent?.name ?? playerId,
    next: turns.length > 0 ? "your_turn" : isOver ? "league_over" : "waiting",
    turns,
    results: unreported.map(([ref, match]) => shownMatch(context, ref, match)),
    leagues: entered.map((league) => shownLeague(projections, league, playerId)),
  };
}

/** Returns a match as its player sees it. */
export function shownMatch({ projections, clock }: StateContext, ref: string, match: HostedMatch): ShownMatch {
  const { invite, turn } = match;
  const nameOf = (id: string): string => projections.agent(id)?.name ?? id;
  const error = turn?.request.error as { readonly message?: unknown } | null | undefined;
  return {
    league_id: invite.league_id,
    match_id: invite.match_id,
    game: matchView(ref, match, nameOf, clock.monotonic()),
    seconds_left: turn && Math.max(0, Math.round((turn.endsAtMs - clock.monotonic()) / 100) / 10),
    rejected: typeof error?.message === "string" ? error.message : null,
  };
}

function shownLeague(projections: Projections, league: League, playerId: string): ShownLeague {
  const { leagueId, game, status, entrants } = league;
  const row = status === "open" ? undefined : projections.standings(league).find((one) => one.player_id === playerId);
  return {
    league_id: leagueId,
    game,
    game_name: findGame(game)?.info.name ?? game,
    status,
    rank: row?.rank ?? null,
    points: row?.points ?? 0,
    played: row?.played ?? 0,
    players: entrants.size,
    next_match: nextMatch(projections, league, playerId),
  };
}

/** Returns the next match of a player that has not begun; null if there is none. */
export function nextMatch(
  projections: Projections,
  { rounds, currentRound }: League,
  playerId: string,
): ShownLeague["next_match"] {
  if (currentRound === null) return null;
  for (const { roundId, matches } of rounds.slice(currentRound - 1)) {
    const match = matches.find(({ players, status }) => status === "scheduled" && players.includes(playerId));
    if (!match) continue;
    const others = match.players.filter((id) => id !== playerId);
    return { round_id: roundId, opponents: others.map((id) => projections.agent(id)?.name ?? id) };
  }
  return null;
}
