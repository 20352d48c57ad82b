import { z } from "zod";
import { knownGameIds } from "#shared/games/registry.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { restStatus } from "../sessions/rejections.ts";
import { CreateSession, EventsQuery, ListQuery, RegisterAgent, StateQuery, SubmitAction } from "./requests.ts";

const schema = (shape: z.ZodType, io: "input" | "output"): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(shape, { io, unrepresentable: "any" });
  return rest;
};
const json = (shape: z.ZodType, io: "input" | "output" = "output") => ({
  "application/json": { schema: schema(shape, io) },
});
const reply = (description: string, shape: z.ZodType) => ({ description, content: json(shape) });
const body = (shape: z.ZodType) => ({ required: true, content: json(shape, "input") });

function queryParameters(query: z.ZodObject): readonly object[] {
  const { properties = {} } = schema(query, "input") as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: "query",
    required: false,
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

const createSession = () =>
  CreateSession.extend({
    template: CreateSession.shape.template.describe(`the game: ${knownGameIds().join(", ")}`),
  });

const sessionIdParameter = { name: "session_id", in: "path", required: true, schema: { type: "string" } };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A repetition of an accepted request with the same key returns the first reply and changes nothing. A rejected request is checked again.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};
const lastEventId = { name: "Last-Event-ID", in: "header", required: false, schema: { type: "string" } };

const REJECTIONS: Readonly<Record<string, string>> = {
  "400": "INVALID_REQUEST, INVALID_ACTION or ALREADY_ACTED",
  "401": "UNAUTHORIZED: the token is missing or unknown",
  "403": "FORBIDDEN: the caller is not a participant and may not read the session",
  "404": "NOT_FOUND",
  "409": "CONFLICT: expected_tick is not the session's tick, or in a simultaneous game of a closed turn",
  "413": "INVALID_REQUEST: the body is too large",
  "429": "TOO_MANY_REQUESTS: see Retry-After",
  "503": "UNAVAILABLE: the game of the session is not loaded",
};
const rejections = (...codes: readonly string[]) =>
  Object.fromEntries(codes.map((code) => [code, reply(REJECTIONS[code] ?? "", ErrorBody)]));

const serverPaths = () => ({
  "/health": {
    get: {
      operationId: "health",
      security: [],
      responses: { "200": reply("The server is running.", Health) },
    },
  },
  "/ready": {
    get: {
      operationId: "ready",
      security: [],
      responses: {
        "200": reply("The server accepts requests.", Readiness),
        "503": reply("The server is starting.", Readiness),
      },
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      security: [],
      responses: {
        "200": {
          description: "Metrics in the Prometheus text format.",
          content: { "text/plain": { schema: { type: "string" } } },
        },
      },
    },
  },
  "/agents": {
    post: {
      operationId: "registerAgent",
      security: [],
      requestBody: { ...body(RegisterAgent), required: false },
      responses: { "201": reply("A new agent.", RegisteredAgent), ...rejections("400", "413", "429") },
    },
  },
});

const sessionsPath = () => ({
  "/sessions": {
    get: {
      operationId: "listSessions",
      parameters: queryParameters(ListQuery),
      responses: {
        "200": reply("The caller's sessions, newest first.", SessionList),
        ...rejections("400", "401", "403", "429"),
      },
    },
    post: {
      operationId: "createSession",
      parameters: [idempotencyKey],
      requestBody: body(createSession()),
      responses: {
        "201": reply("A new session.", CreatedSession),
        ...rejections("400", "401", "403", "404", "413", "429"),
      },
    },
  },
});

const sessionPaths = () => ({
  "/sessions/{session_id}/state": {
    get: {
      operationId: "readState",
      parameters: [sessionIdParameter, ...queryParameters(StateQuery)],
      responses: {
        "200": reply("The session as the caller may see it.", SessionState),
        ...rejections("400", "401", "403", "404", "429", "503"),
      },
    },
  },
  "/sessions/{session_id}/actions": {
    post: {
      operationId: "submitAction",
      parameters: [sessionIdParameter, idempotencyKey],
      requestBody: body(SubmitAction),
      responses: {
        "200": reply("The action is in the log.", ActionTaken),
        ...rejections("400", "401", "403", "404", "409", "413", "429", "503"),
      },
    },
  },
  "/sessions/{session_id}/log": {
    get: {
      operationId: "readLog",
      parameters: [sessionIdParameter],
      responses: {
        "200": reply("All actions so far, except sealed actions of other roles.", SessionLog),
        ...rejections("401", "403", "404", "429", "503"),
      },
    },
  },
  "/sessions/{session_id}/events": {
    get: {
      operationId: "watchSession",
      parameters: [sessionIdParameter, lastEventId, ...queryParameters(EventsQuery)],
      responses: {
        "200": {
          description: "Server-Sent Events named `state`, each with the same data as the answer of GET state.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "204": { description: "The session is over and the caller has received its last event." },
        ...rejections("400", "401", "403", "404", "429", "503"),
      },
    },
  },
  "/sessions/{session_id}/socket": {
    get: {
      operationId: "connectSession",
      description:
        'A WebSocket. The server sends `{"event": "state", "event_id", "data"}` with the data of GET state. The client sends the body of POST actions with an `id` and an optional `idempotency_key`, and receives `{"id", "status", "body"}`. Browsers send the token as the subprotocol `bearer.TOKEN` beside `league.v2`.',
      parameters: [sessionIdParameter, ...queryParameters(EventsQuery)],
      responses: {
        "101": { description: "The WebSocket is open." },
        "426": reply("INVALID_REQUEST: the request does not ask for a WebSocket", ErrorBody),
        ...rejections("400", "401", "403", "404", "429", "503"),
      },
    },
  },
});

/** The API as OpenAPI 3.1, generated from the schemas that validate its requests. */
export const openApi = () => ({
  openapi: "3.1.0",
  info: {
    title: "Session host",
    version: VERSION,
    description:
      "Turn-based games between agents: sessions, actions and logs. Actions out of turn are rejected, and views contain no hidden information.",
    license: { name: "MIT", identifier: "MIT" },
  },
  security: [{ bearer: [] }],
  paths: { ...serverPaths(), ...sessionsPath(), ...sessionPaths() },
  components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
});

/** The schemas of the answers of the host. Tests check every answer against them. */
const status = z.enum(["active", "completed"]);
const tick = z.int().min(0).describe("number of actions in the session");
const state = z.unknown().describe("the state of the game as the caller may see it");
const sessionId = z.string();

export const Health = z.strictObject({ status: z.literal("ok") });
const Readiness = z.strictObject({ status: z.enum(["ready", "starting"]) });

export const RegisteredAgent = z.strictObject({
  agent_id: z.string(),
  token: z.string().describe("shown once: send it as Authorization: Bearer"),
});

export const CreatedSession = z.strictObject({ session_id: sessionId, template: z.string(), status });

export const SessionList = z.strictObject({
  sessions: z.array(
    z.strictObject({
      session_id: sessionId,
      template: z.string(),
      status,
      tick,
      your_role: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
});

export const SessionState = z.strictObject({
  session_id: sessionId,
  template: z.string(),
  status,
  tick,
  state,
  your_role: z.string().describe("a role of the game, or spectator"),
  legal_actions: z.array(z.unknown()),
  termination: z
    .enum(["forfeit", "aborted", "expired"])
    .optional()
    .describe("only if the session has ended by forfeit, abort or expiry"),
  reason: z.string().optional(),
});

export const ActionTaken = z.strictObject({ tick, state, status });

export const SessionLog = z.strictObject({
  actions: z.array(
    z.strictObject({
      tick,
      role: z.string(),
      action: z.unknown(),
      agent_id: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
});

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(restStatus) as [keyof typeof restStatus]),
    message: z.string().describe("for people"),
  }),
});
