import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { newToken } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import { type Answer, type Caller, type Operation, operation } from "#shared/rpc/operations.ts";
import type { Creation } from "#shared/rpc/rate-limit.ts";
import type { Agent } from "../agents/agent.ts";
import type { Place } from "../agents/places.ts";
import { noLeague } from "../commands/draft.ts";
import { startLeague } from "../commands/leagues.ts";
import { removePlayer, resetToken } from "../commands/players.ts";
import { reportResult } from "../commands/report.ts";
import { scheduleMatch } from "../commands/rounds.ts";
import type { League } from "../league/league.ts";
import type { Ledger } from "../ledger.ts";
import { scheduleOf, scheduleOfRound } from "../projections/schedule.ts";
import type { Registration } from "./registration.ts";
import { standingsShown, type Views } from "./resources.ts";
import {
  GetSchedule,
  LeagueId,
  Leagues,
  PlainRegisterPlayer,
  PlainRegisterReferee,
  PlayerId,
  Removed,
  Schedule,
  Scheduled,
  ScheduleMatch,
  Standings,
  Started,
  TokenReset,
} from "./tool-schemas.ts";

/** What the operations work with. */
interface ManagerDesk {
  readonly ledger: Pick<Ledger, "execute">;
  readonly views: Views;
  readonly registration: Registration;
  readonly operatorToken: string;
  readonly places: readonly Place[];
  /** `max_players` of the config by league id. */
  readonly maxPlayers: ReadonlyMap<string, number>;
}

/** The tools and message types that register an agent, with the agent's kind. */
export const REGISTRATIONS: Readonly<Record<string, Agent["kind"]>> = {
  PLAYER_REGISTER_REQUEST: "player",
  register_player: "player",
  REFEREE_REGISTER_REQUEST: "referee",
  register_referee: "referee",
};

/** Whether a registration with this agent's token can only be that of the agent itself. Such a registration is not rate-limited. */
export const isReturn = (agent: Agent | null, { requests, names }: Creation): boolean =>
  agent !== null &&
  requests.every((request) => REGISTRATIONS[request] === agent.kind) &&
  names.length > 0 &&
  names.every((name) => name === agent.name);

/** What the league manager can be asked (PROTOCOL.md, sections 2 and 4). */
export function managerOperations(desk: ManagerDesk): readonly Operation<unknown>[] {
  return [...registrations(desk), ...readings(desk), ...leagueOperations(desk), tokenReset(desk), matchResult(desk)];
}

function registrations({ registration }: ManagerDesk): readonly Operation<unknown>[] {
  return [
    operation({
      request: "PLAYER_REGISTER_REQUEST",
      reply: "PLAYER_REGISTER_RESPONSE",
      payload: messages.PlayerRegisterRequest,
      tool: {
        name: "register_player",
        title: "Register a player",
        description:
          "Enters a player into every open league of its games. Answers with player_id and an auth_token that proves who you are; keep it.",
        plain: PlainRegisterPlayer,
        result: messages.PlayerRegisterResponse,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: (request, caller) => registration.player(request, caller),
    }),
    operation({
      request: "REFEREE_REGISTER_REQUEST",
      reply: "REFEREE_REGISTER_RESPONSE",
      payload: messages.RefereeRegisterRequest,
      tool: {
        name: "register_referee",
        title: "Register a referee",
        description:
          "Offers a referee to the league manager, which gives it matches by calling start_game at its endpoint.",
        plain: PlainRegisterReferee,
        result: messages.RefereeRegisterResponse,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: (request, caller) => registration.referee(request, caller),
    }),
  ];
}

function readings({ views, maxPlayers }: ManagerDesk): readonly Operation<unknown>[] {
  const { projections } = views;
  const ofLeague = (leagueId: string, show: (league: League) => Answer): Answer => {
    const league = projections.league(leagueId);
    return league ? show(league) : err(noLeague(leagueId));
  };
  return [
    operation({
      request: "GET_STANDINGS",
      reply: "GET_STANDINGS_RESPONSE",
      payload: LeagueId,
      tool: {
        name: "get_standings",
        title: "Standings",
        description: "The standings of a league: rank, points, wins, draws, losses.",
        plain: LeagueId,
        result: Standings,
        annotations: { readOnlyHint: true },
      },
      handle: ({ league_id }) => ofLeague(league_id, (league) => ok(standingsShown(views, [league]))),
    }),
    operation({
      request: "GET_SCHEDULE",
      reply: "GET_SCHEDULE_RESPONSE",
      payload: GetSchedule,
      tool: {
        name: "get_schedule",
        title: "Schedule",
        description:
          "Every match of a league with its round, roles, status and result. Of more than 1,000 matches only the current rounds; round_id gives any one round.",
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
        description: "The leagues that are open, running or completed, with their games and how many players are in.",
        plain: z.object({}),
        result: Leagues,
        annotations: { readOnlyHint: true },
      },
      handle: () =>
        ok({
          leagues: projections.leagues().map(({ leagueId, game, status, entrants }) => ({
            league_id: leagueId,
            game,
            game_name: findGame(game)?.info.name,
            status,
            players: entrants.size,
            max_players: maxPlayers.get(leagueId) ?? null,
          })),
        }),
    }),
  ];
}

function scheduleAnswer(league: League, roundId: number | undefined): Answer {
  if (roundId === undefined) return ok(scheduleOf(league));
  const round = scheduleOfRound(league, roundId);
  const { leagueId: league_id, rounds } = league;
  const context = { league_id, round_id: roundId, rounds: rounds.length };
  return round ? ok(round) : err(protocolError("G003", `league ${league_id} has no round ${roundId}`, context));
}

/** Handles a request only if it carries the operator token. */
const operatorGate =
  (operatorToken: string) =>
  <P>(handle: (payload: P) => Promise<Result<object, ProtocolError>>) =>
  async (payload: P, caller: Caller): Promise<Result<object, ProtocolError>> =>
    caller.authToken !== null && equalSecrets(caller.authToken, operatorToken)
      ? handle(payload)
      : err(protocolError("L004", "this takes the operator token; see the terminal where the league was started"));

function leagueOperations({ ledger, views, operatorToken }: ManagerDesk): readonly Operation<unknown>[] {
  const operatorOnly = operatorGate(operatorToken);
  return [
    operation({
      request: "START_LEAGUE",
      reply: "START_LEAGUE_RESPONSE",
      payload: LeagueId,
      tool: {
        name: "start_league",
        title: "Start a league",
        description:
          "Closes the registration of a league, draws up its schedule and plays it. Needs the operator token.",
        plain: LeagueId,
        result: Started,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: operatorOnly(async ({ league_id }: z.infer<typeof LeagueId>) => {
        if (!views.projections.league(league_id)) return err(noLeague(league_id));
        const started = await ledger.execute(startLeague(league_id));
        return started.ok ? ok({ status: "STARTED", league_id, ...started.value }) : started;
      }),
    }),
    operation({
      request: "SCHEDULE_MATCH",
      reply: "SCHEDULE_MATCH_RESPONSE",
      payload: ScheduleMatch,
      tool: {
        name: "schedule_match",
        title: "Schedule a match",
        description:
          "Adds a match to this or a later round of a running league: between player1_id and player2_id, or between players. Needs the operator token.",
        plain: ScheduleMatch,
        result: Scheduled,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: operatorOnly(async (match: z.infer<typeof ScheduleMatch>) => {
        const { round_id, league_id, player1_id = "", player2_id = "" } = match;
        if (league_id !== undefined && !views.projections.league(league_id)) return err(noLeague(league_id));
        const players = match.players ?? [player1_id, player2_id];
        const scheduled = await ledger.execute(scheduleMatch(league_id ?? null, players, round_id));
        if (!scheduled.ok) return scheduled;
        const { leagueId, matchId: match_id, roles } = scheduled.value;
        return ok({ status: "SCHEDULED", league_id: leagueId, match_id, round_id, roles });
      }),
    }),
    operation({
      request: "REMOVE_PLAYER",
      reply: "REMOVE_PLAYER_RESPONSE",
      payload: PlayerId,
      tool: {
        name: "remove_player",
        title: "Remove a player",
        description:
          "Takes a player out of open leagues; in running ones a round that has begun is played to its end, and what follows it is forfeited. One that was in open leagues only may register anew, under the same name. Needs the operator token.",
        plain: PlayerId,
        result: Removed,
        annotations: { readOnlyHint: false, destructiveHint: true },
      },
      handle: operatorOnly(async ({ player_id }: z.infer<typeof PlayerId>) => {
        const removed = await ledger.execute(removePlayer(player_id));
        return removed.ok ? ok({ status: "REMOVED", player_id }) : removed;
      }),
    }),
  ];
}

function tokenReset({ ledger, places, operatorToken }: ManagerDesk): Operation<unknown> {
  return operation({
    request: "RESET_TOKEN",
    reply: "RESET_TOKEN_RESPONSE",
    payload: PlayerId,
    tool: {
      name: "reset_token",
      title: "Reset a player's token",
      description:
        "Gives a player that has lost its token a new one, with which it registers again under its id. Matches that have begun go on with the old token. Needs the operator token.",
      plain: PlayerId,
      result: TokenReset,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: operatorGate(operatorToken)(async ({ player_id }: z.infer<typeof PlayerId>) => {
      const reset = await ledger.execute(resetToken(player_id, newToken(), places));
      return reset.ok ? ok({ status: "RESET", player_id, auth_token: reset.value.token }) : reset;
    }),
  });
}

function matchResult({ ledger, views }: ManagerDesk): Operation<unknown> {
  return operation({
    request: "MATCH_RESULT",
    reply: "MATCH_RESULT_RESPONSE",
    payload: messages.MatchResult,
    async handle(result, caller) {
      const referee = senderOf(views, caller);
      if (referee?.kind !== "referee")
        return err(protocolError("L004", "a match result is taken from a registered referee"));
      const seed = views.seedOf(result.league_id, result.match_id, result.epoch);
      const reported = await ledger.execute(reportResult(result, referee.id, seed));
      if (!reported.ok) return reported;
      return reported.value.status === "FAULTY" ? err(reported.value.fault) : ok(reported.value);
    },
  });
}

/** The agent that a message is from; null when its token is missing, wrong or another agent's than the sender says. */
function senderOf({ projections }: Views, caller: Caller): Agent | null {
  const agent = projections.authenticate(caller.authToken);
  const isSelf = caller.sender === null || caller.sender === `${agent?.kind}:${agent?.id}`;
  return isSelf ? agent : null;
}
