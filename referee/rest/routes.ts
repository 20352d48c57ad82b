import type { Express, NextFunction, Request, RequestHandler, Response } from "express";
import type { Game, Role, Viewer } from "#shared/games/game.ts";
import { findGame, gameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { bearerOf, goneSignal } from "#shared/rpc/http/request.ts";
import type { CreationLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Session } from "#shared/session/session.ts";
import type { AgentDirectory } from "../agents.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { Kept } from "../sessions/live-sessions.ts";
import { rejected, rejection } from "../sessions/rejections.ts";
import type { Remember, Replied, Replies, Reply } from "../sessions/replies.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Waits } from "../sessions/waits.ts";
import { restActed, restLog, restState } from "../views/rest-views.ts";
import { viewFor } from "../views/session-views.ts";
import { bodyOf, type Limits, limitsOf } from "./callers.ts";
import { errorAnswers, RestError, restErrorOf } from "./errors.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import {
  CreateSession,
  EventsQuery,
  ListQuery,
  parseBody,
  parseQuery,
  RegisterAgent,
  StateQuery,
  SubmitAction,
} from "./requests.ts";
import type { Streams } from "./streams.ts";

export interface RestDesk {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly sessions: SessionTable;
  readonly replies: Replies;
  readonly streams: Streams;
  readonly waits: Waits;
  /** The pages beside the API. */
  readonly pages: (app: Express, limits: Limits) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rejections: RejectionLog;
  /** Whether callers on loopback are held to the rate limits too. */
  readonly limitLoopback: boolean;
  readonly creations: CreationLimit;
}

const MAX_KEY = 200;

/**
 * The session host over REST. The routes hold no rules of a game: they check in the order 401, 404, 403, INVALID_REQUEST, then ask the
 * host.
 */
export const restRoutes =
  (desk: RestDesk) =>
  (app: Express): void => {
    const { host, agents, sessions, streams, waits } = desk;
    const metrics = createMetrics({
      sessionsInMemory: host.loaded,
      eventStreams: streams.count,
      waitingCalls: waits.count,
    });
    const limits = limitsOf(desk.limitLoopback, desk.creations);
    app.set("etag", false);
    app.use(timed(metrics, desk.clock));

    app.get("/openapi.json", (_request, response) => void response.json(openApi()));
    app.get("/metrics", async (_request, response) => {
      response.set("content-type", metrics.contentType).send(await metrics.text());
    });

    app.post("/agents", async (request, response) => {
      await limits.creation(request, response);
      parseBody(RegisterAgent, await bodyOf(request, response));
      const { agentId, token } = await agents.register();
      response.status(201).json({ agent_id: agentId, token });
    });

    /** Who asks; throws UNAUTHORIZED. */
    const callerOf = async (request: Request, response: Response): Promise<string> => {
      const token = bearerOf(request);
      const agentId = token === null ? null : agents.holderOf(token);
      if (agentId === null) {
        throw restErrorOf(rejection("INVALID_TOKEN"), { "www-authenticate": "Bearer" });
      }
      response.locals.agent = agentId;
      await limits.agent(agentId, request, response);
      return agentId;
    };

    app.post("/sessions", async (request, response) => {
      const agentId = await callerOf(request, response);
      await limits.creation(request, response);
      const body = await bodyOf(request, response);
      const reply = await desk.replies.once(keyed(request, agentId, body), (remember) =>
        createSession(desk, agentId, parseBody(CreateSession, body), remember),
      );
      answer(response, reply);
    });

    app.get("/sessions", async (request, response) => {
      const agentId = await callerOf(request, response);
      const { agent_id = agentId, limit, before } = parseQuery(ListQuery, request.query);
      if (agent_id !== agentId)
        throw restErrorOf(rejection("NOT_PERMITTED", "An agent may list its own sessions only"));
      response.json({ sessions: await sessions.of(agentId, limit, before) });
    });

    app.get("/sessions/:id/state", async (request, response) => {
      const agentId = await callerOf(request, response);
      const { kept, viewer } = viewerOf(host, request.params.id, agentId);
      const { wait_after_tick, timeout_s } = parseQuery(StateQuery, request.query);
      if (wait_after_tick !== undefined) {
        response.locals.waits = true;
        const isOver = (now: Session): boolean =>
          now.status === "completed" || viewFor(now, viewer).tick > wait_after_tick;
        await waits.until(kept.session, isOver, { timeoutMs: timeout_s * 1000, signal: goneSignal(response) });
      }
      response.json(restState(host.read(kept.session.id)?.session ?? kept.session, viewer));
    });

    app.get("/sessions/:id/log", async (request, response) => {
      const { kept, viewer } = viewerOf(host, request.params.id, await callerOf(request, response));
      response.json(restLog(kept, viewer));
    });

    app.get("/sessions/:id/events", async (request, response) => {
      const { kept, viewer } = viewerOf(host, request.params.id, await callerOf(request, response));
      const query = { last_event_id: request.headers["last-event-id"] ?? request.query.last_event_id };
      const { last_event_id = null } = parseQuery(EventsQuery, query);
      response.locals.waits = true;
      streams.open(kept, viewer, last_event_id, response);
    });

    app.post("/sessions/:id/actions", async (request, response) => {
      const agentId = await callerOf(request, response);
      const { kept, viewer: role } = viewerOf(host, request.params.id, agentId);
      if (role === "spectator") throw restErrorOf(rejection("NO_SEAT", "Only participants may act"));
      if (kept.access.actedBy === "driver") throw restErrorOf(rejection("ACTED_BY_DRIVER"));
      const body = await bodyOf(request, response);
      const reply = await desk.replies.once(keyed(request, agentId, body), (remember) =>
        submitAction(desk, metrics, kept.session, role, parseBody(SubmitAction, body), remember),
      );
      answer(response, reply);
    });

    desk.pages(app, limits);

    app.use(() => {
      throw new RestError("NOT_FOUND", "No such route; /openapi.json lists them");
    });
    app.use(errorAnswers(desk.log, desk.rejections));
  };

async function createSession(
  { host, agents, ids }: RestDesk,
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
  if (!game) return rejected("UNKNOWN_GAME", `template: unknown; one of ${gameIds.join(", ")}`);
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

/** Why these agents cannot play a game; null if they can. */
function faultOfParticipants({ id, roles }: Game, participants: Readonly<Record<Role, string>>): string | null {
  const ids = Object.values(participants);
  if (ids.length !== roles.length || !roles.every((role) => Object.hasOwn(participants, role))) {
    return `${id} is played by ${roles.join(" and ")}`;
  }
  return new Set(ids).size < ids.length ? "each role needs an agent of its own" : null;
}

async function submitAction(
  { host }: RestDesk,
  metrics: Metrics,
  { id, game }: Session,
  role: Role,
  { action, expected_tick }: ReturnType<typeof SubmitAction.parse>,
  remember: Remember,
): Promise<Replied> {
  if (expected_tick == null && !game.info.simultaneous) {
    throw new RestError("INVALID_REQUEST", `expected_tick: is required in ${game.id}`);
  }
  let reply: Reply | null = null;
  /** Made once: for the store, where a key asks for it, and for the client. */
  const replyOf = (next: Session): Reply => {
    reply ??= { status: 200, body: JSON.stringify(restActed(next, role)) };
    return reply;
  };
  const acted = await host.submit(id, {
    role,
    action,
    expectedTick: expected_tick ?? null,
    alongside: (next) => remember(replyOf(next)),
  });
  if (!acted.ok) return acted;
  metrics.acted(game.id);
  return ok(replyOf(acted.value));
}

/** A session and what the caller is in it; throws NOT_FOUND, and FORBIDDEN for who neither plays nor may watch. */
function viewerOf(host: SessionHost, sessionId: unknown, agentId: string): { kept: Kept; viewer: Viewer } {
  const kept = host.read(String(sessionId));
  if (!kept) throw restErrorOf(rejection("UNKNOWN_SESSION"));
  const seat = Object.entries(kept.session.participants).find(([, agent]) => agent === agentId);
  if (seat) return { kept, viewer: seat[0] };
  if (kept.access.spectators === "public") return { kept, viewer: "spectator" };
  throw restErrorOf(rejection("NO_SEAT", "Only participants may see this session"));
}

function keyed(request: Request, agentId: string, body: string) {
  const key = request.headers["idempotency-key"];
  if (key !== undefined && (typeof key !== "string" || key.length < 1 || key.length > MAX_KEY)) {
    throw new RestError("INVALID_REQUEST", `Idempotency-Key: must be 1 to ${MAX_KEY} characters`);
  }
  return {
    agentId,
    key: key ?? null,
    keyName: "Idempotency-Key",
    request: `${request.method} ${request.path}\n${body}`,
  };
}

function answer(response: Response, replied: Replied): void {
  if (!replied.ok) throw restErrorOf(replied.error);
  const { status, body } = replied.value;
  response.status(status).type("json").send(body);
}

/** Times every answer but those that are meant to last, and lets nobody cache any. */
const timed =
  (metrics: Metrics, clock: Clock): RequestHandler =>
  (request: Request, response: Response, next: NextFunction) => {
    const begun = clock.monotonic();
    response.set("cache-control", "no-store");
    response.once("finish", () => {
      if (response.locals.waits === true) return;
      const route = typeof request.route?.path === "string" ? request.route.path : "none";
      metrics.answered(`${request.method} ${route}`, response.statusCode, (clock.monotonic() - begun) / 1000);
    });
    next();
  };
