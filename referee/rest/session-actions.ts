import type { Request, Response } from "express";
import type { Role } from "#shared/games/game.ts";
import { ok } from "#shared/lib/result.ts";
import type { Session } from "#shared/session/session.ts";
import { rejection } from "../sessions/rejections.ts";
import type { KeyedRequest, Remember, Replied, Reply } from "../sessions/replies.ts";
import { restActed } from "../views/rest-views.ts";
import { bodyOf, callerOf, viewerOf } from "./callers.ts";
import type { RestContext } from "./context.ts";
import { RestError, restErrorOf } from "./errors.ts";
import { keyedRequest, sendReply } from "./idempotency.ts";
import { parseBody, SubmitAction } from "./requests.ts";

/** `POST /sessions/:id/actions` */
export async function submitAction(rest: RestContext, request: Request, response: Response): Promise<void> {
  const agentId = await callerOf(rest, request, response);
  const actor = actorOf(rest, request.params.id, agentId);
  const body = await bodyOf(request, response);
  sendReply(response, await submitBody(rest, actor, body, keyedRequest(request, agentId, body)));
}

interface Actor {
  readonly session: Session;
  readonly role: Role;
}

/** Returns the session and the role in which an agent may act. Throws NOT_FOUND or FORBIDDEN. */
export function actorOf({ host }: RestContext, sessionId: unknown, agentId: string): Actor {
  const { stored, viewer: role } = viewerOf(host, sessionId, agentId);
  if (role === "spectator") throw restErrorOf(rejection("NO_SEAT", "Only participants may act"));
  if (stored.access.actedBy === "driver") throw restErrorOf(rejection("ACTED_BY_DRIVER"));
  return { session: stored.session, role };
}

/** Makes the action in a body, unless a request with the same key has been accepted. Rejects with INVALID_REQUEST. */
export const submitBody = (
  rest: RestContext,
  { session, role }: Actor,
  body: string,
  keyed: KeyedRequest,
): Promise<Replied> =>
  rest.replies.once(keyed, (remember) => acted(rest, session, role, parseBody(SubmitAction, body), remember));

async function acted(
  { host, metrics }: RestContext,
  { id, game }: Session,
  role: Role,
  { action, expected_tick }: ReturnType<typeof SubmitAction.parse>,
  remember: Remember,
): Promise<Replied> {
  if (expected_tick == null && !game.info.simultaneous) {
    throw new RestError("INVALID_REQUEST", `expected_tick: is required in ${game.id}`);
  }
  let reply: Reply | null = null;
  /** Serializes the reply once, for the client and for the stored reply of an idempotency key. */
  const replyOf = (next: Session): Reply => {
    reply ??= { status: 200, body: JSON.stringify(restActed(next, role)) };
    return reply;
  };
  const submitted = await host.submit(id, {
    role,
    action,
    expectedTick: expected_tick ?? null,
    alongside: (next) => remember(replyOf(next)),
  });
  if (!submitted.ok) return submitted;
  metrics.acted(game.id);
  return ok(replyOf(submitted.value));
}
