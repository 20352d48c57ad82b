import type { Express, NextFunction, Request, RequestHandler, Response } from "express";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Game, Role } from "#shared/games/game.ts";
import { findGame, knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { disconnectSignal } from "#shared/rpc/http/request.ts";
import type { CreationLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Session } from "#shared/session/session.ts";
import type { AgentDirectory } from "../sessions/agent-tokens.ts";
import type { SessionHost, Waits } from "../sessions/host.ts";
import type { KeyedRequest, Remember, Replied, Replies, Reply } from "../sessions/idempotent-replies.ts";
import { rejected, rejection } from "../sessions/rejections.ts";
import type { SessionLists } from "../sessions/session-store.ts";
import { restActed, restLog, restState, viewFor } from "../views.ts";
import { openApi } from "./openapi.ts";
import {
  bodyOf,
  CreateSession,
  callerOf,
  EventsQuery,
  errorAnswers,
  keyedRequest,
  type Limits,
  ListQuery,
  limitsOf,
  parseBody,
  parseQuery,
  RegisterAgent,
  RestError,
  restErrorOf,
  StateQuery,
  SubmitAction,
  sendReply,
  viewerOf,
} from "./requests.ts";
import type { Streams } from "./streams.ts";

/** Returns the parts that the handlers use. */
export function restContext(parts: RestDependencies): RestContext {
  const metrics = createMetrics({
    sessionsInMemory: parts.host.loaded,
    eventStreams: () => parts.streams.count(),
    waitingCalls: parts.waits.count,
  });
  return { ...parts, metrics, limits: limitsOf(parts.limitLoopback, parts.creations) };
}

/**
 * Adds the REST API of the session host. The handlers contain no rules of games. They check in the order 401, 404, 403, INVALID_REQUEST
 * and then call the host.
 */
export const restRoutes =
  (rest: RestContext) =>
  (app: Express): void => {
    const { metrics } = rest;
    app.set("etag", false);
    app.use(timed(metrics, rest.clock));
    app.get("/openapi.json", (_request, response) => void response.json(openApi()));
    app.get("/metrics", async (_request, response) => {
      response.set("content-type", metrics.contentType).send(await metrics.text());
    });
    addSessionRoutes(rest, app);
    rest.pages(app, rest.limits);
    app.use(() => {
      throw new RestError("NOT_FOUND", "No such route; /openapi.json lists them");
    });
    app.use(errorAnswers(rest));
  };

const UPGRADE_REQUIRED = { status: 426, headers: { connection: "upgrade", upgrade: "websocket" } };

function addSessionRoutes(rest: RestContext, app: Express): void {
  app.post("/agents", async (request, response) => {
    await rest.limits.creation(request, response);
    parseBody(RegisterAgent, await bodyOf(request, response));
    const { agentId, token } = await rest.agents.register();
    response.status(201).json({ agent_id: agentId, token });
  });
  app.post("/sessions", (request, response) => createSession(rest, request, response));
  app.get("/sessions", (request, response) => listSessions(rest, request, response));
  app.get("/sessions/:id/state", (request, response) => readState(rest, request, response));
  app.get("/sessions/:id/log", (request, response) => readLog(rest, request, response));
  app.get("/sessions/:id/events", (request, response) => watchSession(rest, request, response));
  app.get("/sessions/:id/socket", () => {
    throw new RestError("INVALID_REQUEST", "Open a WebSocket at this path", UPGRADE_REQUIRED);
  });
  app.post("/sessions/:id/actions", (request, response) => submitAction(rest, request, response));
}

/** The parts that the REST API uses. */
interface RestDependencies {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly sessions: SessionLists;
  readonly replies: Replies;
  readonly streams: Streams;
  readonly waits: Waits;
  /** Adds the pages and their routes. */
  readonly pages: (app: Express, limits: Limits) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rejections: RejectionLog;
  /** Whether the rate limits also apply to callers on loopback. */
  readonly limitLoopback: boolean;
  readonly creations: CreationLimit;
}

/** The parts that the handlers of the routes use. */
export interface RestContext extends RestDependencies {
  readonly limits: Limits;
  readonly metrics: Metrics;
}

/** `POST /sessions` */
async function createSession(rest: RestContext, request: Request, response: Response): Promise<void> {
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
    role,
    agentId,
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

/** `POST /sessions/:id/actions` */
async function submitAction(rest: RestContext, request: Request, response: Response): Promise<void> {
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

/** `GET /sessions` */
async function listSessions(rest: RestContext, request: Request, response: Response): Promise<void> {
  const agentId = await callerOf(rest, request, response);
  const { agent_id = agentId, limit, before } = parseQuery(ListQuery, request.query);
  if (agent_id !== agentId) throw restErrorOf(rejection("NOT_PERMITTED", "An agent may list only its own sessions"));
  response.json({ sessions: await rest.sessions.of(agentId, limit, before) });
}

/** `GET /sessions/:id/state`, with `wait_after_tick` as a long poll. */
async function readState(rest: RestContext, request: Request, response: Response): Promise<void> {
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
async function readLog(rest: RestContext, request: Request, response: Response): Promise<void> {
  const { stored, viewer } = viewerOf(rest.host, request.params.id, await callerOf(rest, request, response));
  response.json(restLog(stored, viewer));
}

/** `GET /sessions/:id/events`, a stream of Server-Sent Events. */
async function watchSession(rest: RestContext, request: Request, response: Response): Promise<void> {
  const { stored, viewer } = viewerOf(rest.host, request.params.id, await callerOf(rest, request, response));
  const query = { last_event_id: request.headers["last-event-id"] ?? request.query.last_event_id };
  const { last_event_id = null } = parseQuery(EventsQuery, query);
  response.locals.waits = true;
  rest.streams.open(stored, viewer, last_event_id, response);
}

/** The metrics of the process, its sessions and requests, which `GET /metrics` returns in Prometheus form. */
interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** Counts an accepted action, by template. */
  acted(template: string): void;
  /** Records the duration of an answered request. */
  answered(route: string, status: number, seconds: number): void;
}

interface Gauges {
  readonly sessionsInMemory: () => number;
  readonly eventStreams: () => number;
  readonly waitingCalls: () => number;
}

function createMetrics({ sessionsInMemory, eventStreams, waitingCalls }: Gauges): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("host_sessions_in_memory", "Sessions in memory; the others are replayed on demand.", sessionsInMemory);
  gauge("host_event_streams", "Open Server-Sent Events streams and WebSockets of sessions.", eventStreams);
  gauge("host_waiting_calls", "Long polls and waitForNextTurn calls that wait for a turn, and bots.", waitingCalls);
  const actions = new Counter({
    name: "host_actions_total",
    help: "Actions accepted over REST, WebSockets included.",
    labelNames: ["template"],
    registers,
  });
  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from request to answer; event streams and long polls are not included.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    acted: (template) => actions.inc({ template }),
    answered: (route, status, seconds) => requests.observe({ route, status: String(status) }, seconds),
  };
}

/** A handler that measures the duration of requests, except long polls and streams, and forbids caching. */
const timed =
  (metrics: Metrics, clock: Clock): RequestHandler =>
  (request: Request, response: Response, next: NextFunction) => {
    const startedAt = clock.monotonic();
    response.set("cache-control", "no-store");
    response.once("finish", () => {
      if (response.locals.waits === true) return;
      const route = typeof request.route?.path === "string" ? request.route.path : "none";
      metrics.answered(`${request.method} ${route}`, response.statusCode, (clock.monotonic() - startedAt) / 1000);
    });
    next();
  };
