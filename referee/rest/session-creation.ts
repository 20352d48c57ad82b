import type { Request, Response } from "express";
import type { Game, Role } from "#shared/games/game.ts";
import { findGame, knownGameIds } from "#shared/games/registry.ts";
import { ok } from "#shared/lib/result.ts";
import { rejected } from "../sessions/rejections.ts";
import type { Remember, Replied, Reply } from "../sessions/replies.ts";
import { bodyOf, callerOf } from "./callers.ts";
import type { RestContext } from "./context.ts";
import { keyedRequest, sendReply } from "./idempotency.ts";
import { CreateSession, parseBody } from "./requests.ts";

/** `POST /sessions` */
export async function createSession(rest: RestContext, request: Request, response: Response): Promise<void> {
  const agentId = await callerOf(rest, request, response);
  await rest.limits.creation(request, response);
  const body = await bodyOf(request, response);
  const reply = await rest.replies.once(keyedRequest(request, agentId, body), (remember) =>
    created(rest, agentId, parseBody(CreateSession, body), remember),
  );
  sendReply(response, reply);
}

async function created(
  { host, agents, ids }: RestContext,
  caller: string,
  request: ReturnType<typeof CreateSession.parse>,
  remember: Remember,
): Promise<Replied> {
  const { template, participants, spectators } = request;
  const seats = Object.entries(participants).map(([role, agentId]) => ({
    ...{ role, agentId },
    tokenHash: agents.tokenHashOf(agentId) ?? "",
  }));
  const unknown = seats.find(({ tokenHash }) => tokenHash === "");
  if (unknown) return rejected("UNKNOWN_AGENT", `participants.${unknown.role}: no such agent`);
  if (!Object.values(participants).includes(caller))
    return rejected("NOT_PERMITTED", "The caller must be one of the participants");
  const game = findGame(template);
  if (!game) return rejected("UNKNOWN_GAME", `template: unknown; give one of ${knownGameIds().join(", ")}`);
  const fault = faultOfParticipants(game, participants);
  if (fault !== null) return rejected("INVALID_PARTICIPANTS", `participants: ${fault}`);
  const options = game.options.safeParse(request.options ?? {});
  if (!options.success) {
    const [issue] = options.error.issues;
    const path = ["options", ...(issue?.path ?? [])].join(".");
    return rejected("INVALID_OPTIONS", `${path}: ${issue?.message ?? "malformed"}`);
  }
  const replyOf = (session_id: string): Reply => ({
    status: 201,
    body: JSON.stringify({ session_id, template, status: "active" }),
  });
  const session = await host.create({
    game,
    options: options.data,
    seed: ids.token(),
    seats,
    actedBy: "seats",
    spectators,
    alongside: (sessionId) => remember(replyOf(sessionId)),
  });
  return ok(replyOf(session.id));
}

/** The reason why these participants do not fit a game; null if they fit. */
function faultOfParticipants({ id, roles }: Game, participants: Readonly<Record<Role, string>>): string | null {
  const ids = Object.values(participants);
  if (ids.length !== roles.length || !roles.every((role) => Object.hasOwn(participants, role))) {
    return `${id} is played by ${roles.join(" and ")}`;
  }
  return new Set(ids).size < ids.length ? "each role needs a different agent" : null;
}
