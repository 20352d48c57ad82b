import { compareIds, playerId } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import {
  GetRegistration,
  PlayerRegisterRequest,
  PlayerRegisterResponse,
  RefereeRegisterRequest,
  RefereeRegisterResponse,
} from "#shared/protocol/messages.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Agent, ManagerState } from "../agents/registered-agent.ts";
import { leaveReferee } from "../commands/agent-commands.ts";
import { reportResult } from "../commands/match-commands.ts";
import { replayInAdvance } from "../league/result-check.ts";
import type { Ledger } from "../ledger.ts";
import type { Views } from "../projections/projections.ts";
import type { Registration } from "./agent-registration.ts";
import { PlainRegisterPlayer, PlainRegisterReferee } from "./tool-schemas.ts";

interface AgentContext {
  readonly ledger: Pick<Ledger, "execute" | "state">;
  readonly views: Views;
  readonly registration: Registration;
}

/** The operations of players and referees: registrations and match results. */
export const agentOperations = (context: AgentContext): readonly Operation<unknown>[] => [
  ...registrations(context),
  matchResult(context),
  refereeLeave(context),
  getRegistration(context),
];

/** The registration of players. `league check` has the same operation. */
export const playerRegistration = (registration: Pick<Registration, "player">): Operation<unknown> =>
  operation({
    request: "PLAYER_REGISTER_REQUEST",
    reply: "PLAYER_REGISTER_RESPONSE",
    payload: PlayerRegisterRequest,
    tool: {
      name: "register_player",
      title: "Register a player",
      description:
        "Enters a player into every open league of its games. Answers with player_id and an auth_token that proves who you are; keep it. The player is native: it is called with league.v2 envelopes (tools/call league_message). With display_name instead of player_name, a program of the dialect classroom is registered.",
      plain: PlainRegisterPlayer,
      result: PlayerRegisterResponse,
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    handle: (request, caller) => registration.player(request, caller),
  });

function registrations({ registration }: AgentContext): readonly Operation<unknown>[] {
  return [
    playerRegistration(registration),
    operation({
      request: "REFEREE_REGISTER_REQUEST",
      reply: "REFEREE_REGISTER_RESPONSE",
      payload: RefereeRegisterRequest,
      tool: {
        name: "register_referee",
        title: "Register a referee",
        description:
          "Offers a referee to the league manager, which assigns matches to it by calling start_game at its endpoint.",
        plain: PlainRegisterReferee,
        result: RefereeRegisterResponse,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: (request, caller) => registration.referee(request, caller),
    }),
  ];
}

function matchResult({ ledger, views }: AgentContext): Operation<unknown> {
  return operation({
    request: "MATCH_RESULT",
    reply: "MATCH_RESULT_RESPONSE",
    payload: messages.MatchResult,
    async handle(result, caller) {
      const referee = senderOf(views, caller);
      if (referee?.kind !== "referee")
        return err(protocolError("L004", "only a registered referee can report a match result"));
      const seed = views.seedOf(result.league_id, result.match_id, result.epoch);
      replayInAdvance(views.projections.league(result.league_id), result, referee.id, seed);
      const reported = await ledger.execute(reportResult(result, referee.id, seed));
      if (!reported.ok) return reported;
      return reported.value.status === "FAULTY" ? err(reported.value.fault) : ok(reported.value);
    },
  });
}

function refereeLeave({ ledger, views }: AgentContext): Operation<unknown> {
  return operation({
    request: "REFEREE_LEAVE",
    reply: "REFEREE_LEAVE_RESPONSE",
    payload: messages.RefereeLeave,
    handle(_payload, caller) {
      const referee = senderOf(views, caller);
      return referee?.kind === "referee"
        ? ledger.execute(leaveReferee(referee.id))
        : err(protocolError("L004", "only a registered referee can leave"));
    },
  });
}

/** GET_REGISTRATION: returns the id of a registered agent. After a restore of the database the manager may not know an agent, and asks it to register again. */
function getRegistration({ ledger, views }: AgentContext): Operation<unknown> {
  return operation({
    request: "GET_REGISTRATION",
    reply: "GET_REGISTRATION_RESPONSE",
    payload: GetRegistration,
    handle({ display_name }, caller) {
      const agent = senderOf(views, caller);
      if (agent) return ok({ agent_id: agent.id });
      const [kind, id = ""] = (caller.sender ?? "").split(":", 2);
      const mayReturn = kind === "referee" || isOfLaterState(ledger.state, id, display_name);
      return err(protocolError("L004", `${id} is not registered with this token`, { agent_id: id }, mayReturn));
    },
  });
}

/**
 * Whether a player with this id and name registered after the moment to which the database was restored: its id is not assigned, or it is that of a
 * player with another name. The ids of removed players are not assigned again, an erased player has its id as its name, and a player whose token was
 * reset keeps its name.
 */
function isOfLaterState({ agents, lastForgotten }: ManagerState, id: string, name: string): boolean {
  const agent = agents.get(id);
  if (agent) return agent.name !== name && agent.name !== id;
  return compareIds(id, playerId(lastForgotten.player)) > 0;
}

/** Returns the agent that sent a message, or null if its token is missing or wrong, or belongs to another agent than `sender` names. */
function senderOf({ projections }: Views, caller: Caller): Agent | null {
  const agent = projections.authenticate(caller.authToken);
  const isSelf = caller.sender === null || caller.sender === `${agent?.kind}:${agent?.id}`;
  return isSelf ? agent : null;
}
