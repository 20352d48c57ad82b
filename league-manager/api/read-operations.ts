import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { type Answer, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { noLeague } from "../league/decide.ts";
import { configIdOf, type League } from "../league/league.ts";
import type { Views } from "../projections/projections.ts";
import { scheduleOf, scheduleOfRound } from "../projections/schedule.ts";
import { ratingsShown, standingsShown } from "./league-resources.ts";
import { GetSchedule, LeagueId, Leagues, Ratings, Schedule, Standings } from "./tool-schemas.ts";

interface ReadContext {
  readonly views: Pick<Views, "projections">;
  /** `max_players` of the leagues of the config that set it. */
  readonly maxPlayers: ReadonlyMap<string, number>;
}

/** The operations that need no token. */
export function readOperations({ views, maxPlayers }: ReadContext): readonly Operation<unknown>[] {
  const { projections } = views;
  const ofLeague = (leagueId: string, show: (league: League) => Answer): Answer => {
    const league = projections.league(leagueId);
    return league ? show(league) : err(noLeague(leagueId, projections.leagues()));
  };
  const leagueRow = (league: League): object => ({
    league_id: league.leagueId,
    game: league.game,
    game_name: findGame(league.game)?.info.name,
    status: league.status,
    players: league.entrants.size,
    max_players: maxPlayers.get(configIdOf(league)) ?? null,
  });
  return [
    operation({
      request: "GET_STANDINGS",
      reply: "GET_STANDINGS_RESPONSE",
      payload: LeagueId,
      tool: {
        name: "get_standings",
        title: "Standings",
        description: "Returns the standings of a league: rank, points, wins, draws and losses of each player.",
        plain: LeagueId,
        result: Standings,
        annotations: { readOnlyHint: true },
      },
      handle: ({ league_id }) => ofLeague(league_id, (league) => ok(standingsShown(views, [league]))),
    }),
    ratingsOperation(views),
    operation({
      request: "GET_SCHEDULE",
      reply: "GET_SCHEDULE_RESPONSE",
      payload: GetSchedule,
      tool: {
        name: "get_schedule",
        title: "Schedule",
        description:
          "Returns every match of a league with its round, roles, status and result. For a league of more than 1,000 matches it returns only the rounds around the current one; round_id selects any round.",
        plain: GetSchedule,
        result: Schedule,
        annotations: { readOnlyHint: true },
      },
      handle: ({ league_id, round_id }) => ofLeague(league_id, (league) => scheduleAnswer(league, round_id)),
    }),
    operation({
      request: "LIST_LEAGUES",
      reply: "LIST_LEAGUES_RESPONSE",
      payload: z.object({}),
      tool: {
        name: "list_leagues",
        title: "List leagues",
        description: "Lists the open, running and completed leagues with their games and numbers of players.",
        plain: z.object({}),
        result: Leagues,
        annotations: { readOnlyHint: true },
      },
      handle: () => ok({ leagues: projections.leagues().map(leagueRow) }),
    }),
  ];
}

const ratingsOperation = (views: ReadContext["views"]): Operation<unknown> =>
  operation({
    request: "GET_RATINGS",
    reply: "GET_RATINGS_RESPONSE",
    payload: LeagueId,
    tool: {
      name: "get_ratings",
      title: "Ratings",
      description:
        "Returns the ratings of the players of a league with 95% intervals, and for pairs of players how likely the higher rated one is stronger. A difference that is not significant does not show who is better.",
      plain: LeagueId,
      result: Ratings,
      annotations: { readOnlyHint: true },
    },
    handle: async ({ league_id }) => {
      const league = views.projections.league(league_id);
      return league ? ok(await ratingsShown(views, league)) : err(noLeague(league_id, views.projections.leagues()));
    },
  });

function scheduleAnswer(league: League, roundId: number | undefined): Answer {
  if (roundId === undefined) return ok(scheduleOf(league));
  const round = scheduleOfRound(league, roundId);
  const { leagueId: league_id, rounds } = league;
  const context = { league_id, round_id: roundId, rounds: rounds.length };
  return round ? ok(round) : err(protocolError("G003", `league ${league_id} has no round ${roundId}`, context));
}
