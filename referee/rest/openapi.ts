import { z } from "zod";
import { VERSION } from "#shared/runtime/process/version.ts";
import * as documents from "./documents.ts";
import { CreateSession, EventsQuery, ListQuery, RegisterAgent, StateQuery, SubmitAction } from "./requests.ts";

const schema = (one: z.ZodType, io: "input" | "output"): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(one, { io, unrepresentable: "any" });
  return rest;
};
const json = (one: z.ZodType, io: "input" | "output" = "output") => ({
  "application/json": { schema: schema(one, io) },
});
const reply = (description: string, one: z.ZodType) => ({ description, content: json(one) });
const body = (one: z.ZodType) => ({ required: true, content: json(one, "input") });

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

const sessionId = { name: "session_id", in: "path", required: true, schema: { type: "string" } };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A request that was accepted and is repeated with the same key gets its first reply and changes nothing again. A rejected request is checked again.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};
const lastEventId = { name: "Last-Event-ID", in: "header", required: false, schema: { type: "string" } };

const REJECTIONS: Readonly<Record<string, string>> = {
  "400": "INVALID_REQUEST, INVALID_ACTION or ALREADY_ACTED",
  "401": "UNAUTHORIZED: no token, or an unknown one",
  "403": "FORBIDDEN: the caller neither plays in the session nor may watch it",
  "404": "NOT_FOUND",
  "409": "CONFLICT: expected_tick is not the session's tick, or in a simultaneous game of a closed turn",
  "413": "INVALID_REQUEST: the body is too large",
  "429": "TOO_MANY_REQUESTS: see Retry-After",
};
const rejections = (...codes: readonly string[]) =>
  Object.fromEntries(codes.map((code) => [code, reply(REJECTIONS[code] ?? "", documents.ErrorBody)]));

const serverPaths = () => ({
  "/health": {
    get: { operationId: "health", security: [], responses: { "200": reply("It runs.", documents.Health) } },
  },
  "/ready": {
    get: {
      operationId: "ready",
      security: [],
      responses: {
        "200": reply("It takes requests.", documents.Readiness),
        "503": reply("Not yet.", documents.Readiness),
      },
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      security: [],
      responses: {
        "200": {
          description: "Prometheus text.",
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
      responses: { "201": reply("A new agent.", documents.RegisteredAgent), ...rejections("400", "413", "429") },
    },
  },
});

const sessionsPath = () => ({
  "/sessions": {
    get: {
      operationId: "listSessions",
      parameters: queryParameters(ListQuery),
      responses: {
        "200": reply("The caller's sessions, newest first.", documents.SessionList),
        ...rejections("400", "401", "403", "429"),
      },
    },
    post: {
      operationId: "createSession",
      parameters: [idempotencyKey],
      requestBody: body(CreateSession),
      responses: {
        "201": reply("A new session.", documents.CreatedSession),
        ...rejections("400", "401", "403", "404", "413", "429"),
      },
    },
  },
});

const sessionPaths = () => ({
  "/sessions/{session_id}/state": {
    get: {
      operationId: "readState",
      parameters: [sessionId, ...queryParameters(StateQuery)],
      responses: {
        "200": reply("The session as the caller may see it.", documents.SessionState),
        ...rejections("400", "401", "403", "404", "429"),
      },
    },
  },
  "/sessions/{session_id}/actions": {
    post: {
      operationId: "submitAction",
      parameters: [sessionId, idempotencyKey],
      requestBody: body(SubmitAction),
      responses: {
        "200": reply("The action is in the log.", documents.ActionTaken),
        ...rejections("400", "401", "403", "404", "409", "413", "429"),
      },
    },
  },
  "/sessions/{session_id}/log": {
    get: {
      operationId: "readLog",
      parameters: [sessionId],
      responses: {
        "200": reply("Every action so far, but the sealed ones of others.", documents.SessionLog),
        ...rejections("401", "403", "404", "429"),
      },
    },
  },
  "/sessions/{session_id}/events": {
    get: {
      operationId: "watchSession",
      parameters: [sessionId, lastEventId, ...queryParameters(EventsQuery)],
      responses: {
        "200": {
          description: "Server-Sent Events named `state`; the data of each is what GET state answers.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
        "204": { description: "The session is over and the caller has seen its end." },
        ...rejections("400", "401", "403", "404", "429"),
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
      "Turn-based games between agents: sessions, actions and logs. Nobody acts out of turn or sees what is hidden.",
    license: { name: "MIT", identifier: "MIT" },
  },
  security: [{ bearer: [] }],
  paths: { ...serverPaths(), ...sessionsPath(), ...sessionPaths() },
  components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
});
