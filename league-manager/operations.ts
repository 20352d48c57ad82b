import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/operations.ts";
import type { Creation } from "#shared/rpc/rate-limit.ts";
import type { Agent } from "./agents.ts";
import type { Entry } from "./entry.ts";
import type { Manager } from "./manager.ts";
import type { AgentRegistry } from "./registry.ts";
import { scheduleShown, standingsShown } from "./resources.ts";
import {
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

export interface ManagerDesk {
  readonly manager: Manager;
  readonly registry: AgentRegistry;
  readonly entry: Entry;
  readonly operatorToken: string;
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
  return [...registrations(desk), ...readings(desk), ...leagueOperations(desk), resetToken(desk), matchResult(desk)];
}

function registrations({ entry }: ManagerDesk): readonly Operation<unknown>[] {
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
      handle: (request, caller) => entry.player(request, caller),
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
      handle: (request, caller) => entry.referee(request, caller),
    }),
  ];
}

function readings({ manager }: ManagerDesk): readonly Operation<unknown>[] {
  const reading = (
    request: messages.MessageType,
    tool: Pick<NonNullable<Operation<unknown>["tool"]>, "name" | "title" | "description" | "result">,
    show: (leagueId: string) => object,
  ): Operation<unknown> =>
    operation({
      request,
      reply: `${request}_RESPONSE` as messages.MessageType,
      payload: LeagueId,
      tool: { ...tool, plain: LeagueId, annotations: { readOnlyHint: true } },
      handle: ({ league_id }) =>
        manager.leagues.has(league_id)
          ? ok(show(league_id))
          : err(protocolError("L005", `no league ${league_id}`, { league_id })),
    });
  return [
    reading(
      "GET_STANDINGS",
      {
        name: "get_standings",
        title: "Standings",
        description: "The standings of a league: rank, points, wins, draws, losses.",
        result: Standings,
      },
      (leagueId) => standingsShown(manager, leagueId),
    ),
    reading(
      "GET_SCHEDULE",
      {
        name: "get_schedule",
        title: "Schedule",
        description: "Every match of a league with its round, roles, status and result.",
        result: Schedule,
      },
      (leagueId) => scheduleShown(manager, leagueId),
    ),
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
          leagues: [...manager.leagues.values()].map((league) => ({
            league_id: league.config.league_id,
            game: league.game.id,
            game_name: findGame(league.game.id)?.info.name,
            status: league.status,
            players: league.entrants.size,
            max_players: league.config.max_players ?? null,
          })),
        }),
    }),
  ];
}

/** Handles a request only if it carries the operator token. */
const operatorGate =
  (operatorToken: string) =>
  <P>(handle: (payload: P) => Promise<Result<object, ProtocolError>>) =>
  async (payload: P, caller: Caller): Promise<Result<object, ProtocolError>> =>
    caller.authToken !== null && equalSecrets(caller.authToken, operatorToken)
      ? handle(payload)
      : err(protocolError("L004", "this takes the operator token; see the terminal where the league was started"));

function playerOf(registry: AgentRegistry, player_id: string): Result<Agent, ProtocolError> {
  const player = registry.get(player_id);
  return player?.kind === "player"
    ? ok(player)
    : err(protocolError("L004", `no player ${player_id} is registered`, { player_id }));
}

function leagueOperations({ manager, registry, operatorToken }: ManagerDesk): readonly Operation<unknown>[] {
  const operatorOnly = operatorGate(operatorToken);
  /** The one running league that both players are in. */
  const sharedLeague = (...players: readonly string[]): Result<string, ProtocolError> => {
    for (const id of players) {
      const player = playerOf(registry, id);
      if (!player.ok) return player;
    }
    const shared = [...manager.leagues.values()].filter(
      ({ status, entrants }) => status === "running" && players.every((id) => entrants.has(id)),
    );
    const choices = shared.map(({ config }) => config.league_id);
    const [only, another] = choices;
    if (only && !another) return ok(only);
    const why = only
      ? `${players.join(" and ")} are in several running leagues: give league_id, one of ${choices.join(", ")}`
      : `${players.join(" and ")} are in no running league together`;
    return err(protocolError("L005", why, { choices }, true));
  };
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
        const started = await manager.start(league_id);
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
          "Adds a match between two players to this or a later round of a running league. Needs the operator token.",
        plain: ScheduleMatch,
        result: Scheduled,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: operatorOnly(async ({ player1_id, player2_id, round_id, league_id }: z.infer<typeof ScheduleMatch>) => {
        const target = league_id === undefined ? sharedLeague(player1_id, player2_id) : ok(league_id);
        if (!target.ok) return target;
        const added = await manager.schedule(target.value, [player1_id, player2_id], round_id);
        if (!added.ok) return added;
        const { matchId: match_id, roles } = added.value;
        return ok({ status: "SCHEDULED", league_id: target.value, match_id, round_id, roles });
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
        const player = playerOf(registry, player_id);
        if (!player.ok) return player;
        await manager.remove(player.value);
        return ok({ status: "REMOVED", player_id });
      }),
    }),
  ];
}

function resetToken({ registry, operatorToken }: ManagerDesk): Operation<unknown> {
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
      const player = playerOf(registry, player_id);
      if (!player.ok) return player;
      const token = await registry.resetToken(player.value);
      return token.ok ? ok({ status: "RESET", player_id, auth_token: token.value }) : token;
    }),
  });
}

function matchResult({ manager, registry }: ManagerDesk): Operation<unknown> {
  return operation({
    request: "MATCH_RESULT",
    reply: "MATCH_RESULT_RESPONSE",
    payload: messages.MatchResult,
    async handle(result, caller) {
      const referee = asAgent(registry, caller);
      if (referee?.kind !== "referee")
        return err(protocolError("L004", "a match result is taken from a registered referee"));
      return manager.record(result, referee);
    },
  });
}

/** The agent that a message is from; null when its token is missing, wrong or another agent's than the sender says. */
function asAgent(registry: AgentRegistry, caller: Caller): Agent | null {
  const agent = registry.authenticate(caller.authToken);
  const isSelf = caller.sender === null || caller.sender === `${agent?.kind}:${agent?.id}`;
  return isSelf ? agent : null;
}
