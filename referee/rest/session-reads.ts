import type { Request, Response } from "express";
import { disconnectSignal } from "#shared/rpc/http/request.ts";
import type { Session } from "#shared/session/session.ts";
import { rejection } from "../sessions/rejections.ts";
import { restLog, restState } from "../views/rest-views.ts";
import { viewFor } from "../views/session-views.ts";
import { callerOf, viewerOf } from "./callers.ts";
import type { RestContext } from "./context.ts";
import { restErrorOf } from "./errors.ts";
import { EventsQuery, ListQuery, parseQuery, StateQuery } from "./requests.ts";

/** `GET /sessions` */
export async function listSessions(rest: RestContext, request: Request, response: Response): Promise<void> {
  const agentId = await callerOf(rest, request, response);
  const { agent_id = agentId, limit, before } = parseQuery(ListQuery, request.query);
  if (agent_id !== agentId) throw restErrorOf(rejection("NOT_PERMITTED", "An agent may list only its own sessions"));
  response.json({ sessions: await rest.sessions.of(agentId, limit, before) });
}

/** `GET /sessions/:id/state`, with `wait_after_tick` as a long poll. */
export async function readState(rest: RestContext, request: Request, response: Response): Promise<void> {
  const { host, waits } = rest;
  const agentId = await callerOf(rest, request, response);
  const { stored, viewer } = viewerOf(host, request.params.id, agentId);
  const { wait_after_tick, timeout_s } = parseQuery(StateQuery, request.query);
  if (wait_after_tick !== undefined) {
    response.locals.waits = true;
    const isOver = (now: Session): boolean => now.status === "completed" || viewFor(now, viewer).tick > wait_after_tick;
    await waits.until(stored.session, isOver, { timeoutMs: timeout_s * 1000, signal: disconnectSignal(response) });
  }
  response.json(restState(host.read(stored.session.id)?.session ?? stored.session, viewer));
}

/** `GET /sessions/:id/log` */
export async function readLog(rest: RestContext, request: Request, response: Response): Promise<void> {
  const { stored, viewer } = viewerOf(rest.host, request.params.id, await callerOf(rest, request, response));
  response.json(restLog(stored, viewer));
}

/** `GET /sessions/:id/events`, a stream of Server-Sent Events. */
export async function watchSession(rest: RestContext, request: Request, response: Response): Promise<void> {
  const { stored, viewer } = viewerOf(rest.host, request.params.id, await callerOf(rest, request, response));
  const query = { last_event_id: request.headers["last-event-id"] ?? request.query.last_event_id };
  const { last_event_id = null } = parseQuery(EventsQuery, query);
  response.locals.waits = true;
  rest.streams.open(stored, viewer, last_event_id, response);
}
