import type { ErrorRequestHandler, Request, Response } from "express";
import { z } from "zod";
import type { Viewer } from "#shared/games/game.ts";
import { withoutByteOrderMark } from "#shared/lib/text.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { bearerOf, readBody, remoteAddressOf } from "#shared/rpc/http/request.ts";
import { type CreationLimit, rateLimiter, TOO_MANY_CREATIONS } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { AgentDirectory } from "../sessions/agent-tokens.ts";
import type { SessionHost, StoredSession } from "../sessions/host.ts";
import type { KeyedRequest, Replied } from "../sessions/idempotent-replies.ts";
import {
  GameNotLoaded,
  type Rejection,
  type RestCode,
  rejection,
  rejectionTable,
  restStatus,
} from "../sessions/rejections.ts";

const agentId = z.string().max(500).describe("id of an agent");

/** The body of `POST /agents`, which has no fields. */
export const RegisterAgent = z.strictObject({});

export const CreateSession = z.strictObject({
  template: z.string().max(100).describe("id of the game"),
  participants: z.record(z.string().max(100), agentId).describe("agent ids by role of the game"),
  options: z.record(z.string(), z.unknown()).optional().describe("options of the game; each has a default"),
  spectators: z.enum(["none", "public"]).default("none").describe("public: any agent may watch"),
});

export const SubmitAction = z.strictObject({
  action: z
    .custom<unknown>((value) => value !== undefined, "is missing")
    .describe("one of legal_actions")
    .meta({ title: "action" }),
  expected_tick: z
    .int()
    .min(0)
    .nullish()
    .describe(
      "the tick at which the caller expects the session. Required in sequential games; in a simultaneous turn only a tick of a closed turn is rejected",
    ),
});

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);

/** The maximum time of a long poll, in seconds. */
const MAX_WAIT_S = 30;

export const StateQuery = z.object({
  wait_after_tick: wholeNumber
    .optional()
    .describe("answer as soon as the tick is higher than this, or the session is over"),
  timeout_s: wholeNumber
    .refine((seconds) => seconds <= MAX_WAIT_S, `must be at most ${MAX_WAIT_S}`)
    .default(25)
    .describe("time limit of the wait, in seconds, at most 30; then the current state is returned"),
});

/** The maximum number of sessions in an answer of `GET /sessions`. */
const MAX_LISTED = 1_000;

export const ListQuery = z.object({
  agent_id: agentId.optional().describe("id of the caller; other ids are FORBIDDEN"),
  limit: wholeNumber
    .refine((count) => count >= 1 && count <= MAX_LISTED, `must be 1 to ${MAX_LISTED}`)
    .default(MAX_LISTED)
    .describe("maximum number of sessions, newest first"),
  before: z.string().max(100).optional().describe("only sessions that were created before this one"),
});

export const EventsQuery = z.object({
  last_event_id: wholeNumber.optional().describe("same as the header Last-Event-ID, for clients that cannot send it"),
});

/** Parses a body. An empty body is an empty object. Throws INVALID_REQUEST with the field and the reason. */
export function parseBody<T>(schema: z.ZodType<T>, text: string): T {
  let value: unknown;
  try {
    const json = withoutByteOrderMark(text);
    value = json.trim() === "" ? {} : JSON.parse(json, MAYBE_PROTO.test(json) ? rejectProto : undefined);
  } catch (thrown) {
    const reason = thrown instanceof RestError ? thrown.message : "The body is not JSON";
    throw new RestError("INVALID_REQUEST", reason);
  }
  return checked(schema, value);
}

/** Parses a query. Throws INVALID_REQUEST. */
export const parseQuery = <T>(schema: z.ZodType<T>, query: unknown): T => checked(schema, query);

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") || "request";
  throw new RestError("INVALID_REQUEST", `${where}: ${issue?.message ?? "is malformed"}`.slice(0, 500));
}

/** Matches text that may contain the key `__proto__`, plain or escaped. Only such text is parsed with a reviver, because that is slow. */
const MAYBE_PROTO = /__proto__|\\u/;

/** Rejects the key `__proto__`, which would set a prototype when the value is copied. */
function rejectProto(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new RestError("INVALID_REQUEST", "The body has a key __proto__");
  return value;
}

/** The rate limit of an agent, in requests per minute. */
const AGENT_PER_MINUTE = 6_000;
const BODY_BYTES = 64 * 1024;

/** The rate limits of the routes. Both functions throw TOO_MANY_REQUESTS. The endpoint limits callers without a token. */
export interface Limits {
  /** Counts a request that creates an agent, session or game. */
  creation(request: Request, response: Response): Promise<void>;
  /** Counts a request of an agent. Resolves with the headers about its limit. */
  agent(agentId: string, remoteAddress: string): Promise<Readonly<Record<string, string>>>;
}

const tooLarge = (): RestError =>
  new RestError("INVALID_REQUEST", `The body is larger than ${BODY_BYTES} bytes`, { status: 413 });

/** Throws INVALID_REQUEST (413) if a text is larger than a body may be. */
export function checkSize(text: string): void {
  if (Buffer.byteLength(text) > BODY_BYTES) throw tooLarge();
}

/** Resolves with the body as text. Rejects with INVALID_REQUEST (413) if it is too large. */
export function bodyOf(request: Request, response: Response): Promise<string> {
  return new Promise((resolve, reject) => {
    readBody(request, BODY_BYTES, (body) => {
      if (body !== null) return resolve(body);
      response.set("connection", "close");
      reject(tooLarge());
    });
  });
}

export function limitsOf(limitLoopback: boolean, creations: CreationLimit): Limits {
  const byAgent = rateLimiter(AGENT_PER_MINUTE);
  return {
    async creation(request, response) {
      const allowance = await creations(remoteAddressOf(request));
      if (allowance === null) return;
      const { isAllowed, headers } = allowance;
      response.set(headers);
      if (!isAllowed) throw new RestError("TOO_MANY_REQUESTS", TOO_MANY_CREATIONS, { headers });
    },
    async agent(agentId, remoteAddress) {
      if (!limitLoopback && isLoopback(remoteAddress)) return {};
      const { isAllowed, headers } = await byAgent(agentId);
      if (!isAllowed) throw new RestError("TOO_MANY_REQUESTS", "Too many requests; see Retry-After", { headers });
      return headers;
    },
  };
}

/** Resolves with the id of the calling agent. Rejects with UNAUTHORIZED or TOO_MANY_REQUESTS. */
export async function callerOf(
  { agents, limits }: { readonly agents: AgentDirectory; readonly limits: Limits },
  request: Request,
  response: Response,
): Promise<string> {
  const agentId = holderOf(agents, bearerOf(request));
  response.locals.agent = agentId;
  response.set(await limits.agent(agentId, remoteAddressOf(request)));
  return agentId;
}

/** Returns the id of the agent with this token. Throws UNAUTHORIZED. */
export function holderOf(agents: AgentDirectory, token: string | null): string {
  const agentId = token === null ? null : agents.holderOf(token);
  if (agentId !== null) return agentId;
  throw restErrorOf(rejection("INVALID_TOKEN"), { "www-authenticate": "Bearer" });
}

/** Returns a session with the role of the agent or `spectator`. Throws NOT_FOUND, or FORBIDDEN for an agent that may not read it. */
export function viewerOf(
  host: SessionHost,
  sessionId: unknown,
  agentId: string,
): { stored: StoredSession; viewer: Viewer } {
  const stored = host.read(String(sessionId));
  if (!stored) throw restErrorOf(rejection("UNKNOWN_SESSION"));
  const seat = Object.entries(stored.session.participants).find(([, agent]) => agent === agentId);
  if (seat) return { stored, viewer: seat[0] };
  if (stored.access.spectators === "public") return { stored, viewer: "spectator" };
  throw restErrorOf(rejection("NO_SEAT", "Only participants may see this session"));
}

const MAX_KEY_LENGTH = 200;

/** The key and the text by which a repeated request is recognized. Throws INVALID_REQUEST for a malformed Idempotency-Key. */
export const keyedRequest = (request: Request, agentId: string, body: string): KeyedRequest => ({
  agentId,
  ...keyOf("Idempotency-Key", request.headers["idempotency-key"]),
  request: `${request.method} ${request.path}\n${body}`,
});

/** The idempotency key in a header or field. Throws INVALID_REQUEST if it is malformed. */
export function keyOf(keyName: string, key: unknown): Pick<KeyedRequest, "key" | "keyName"> {
  if (key === undefined || key === null) return { key: null, keyName };
  if (typeof key === "string" && key.length >= 1 && key.length <= MAX_KEY_LENGTH) return { key, keyName };
  throw new RestError("INVALID_REQUEST", `${keyName}: must be 1 to ${MAX_KEY_LENGTH} characters`);
}

/** Sends a reply. Throws the error of a rejection. */
export function sendReply(response: Response, replied: Replied): void {
  if (!replied.ok) throw restErrorOf(replied.error);
  const { status, body } = replied.value;
  response.status(status).type("json").send(body);
}

/** An error that is sent to the client. Its message must not contain hidden information. */
export class RestError extends Error {
  readonly code: RestCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: RestCode,
    message: string,
    { status = restStatus[code] as number, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

/** The error of the REST API for a rejection. */
export const restErrorOf = ({ code, message }: Rejection, headers = {}): RestError =>
  new RestError(rejectionTable[code].rest, message, { headers });

/** The error of the routes of the pages for a rejection. */
export const pageErrorOf = ({ code, message }: Rejection): RestError =>
  new RestError(rejectionTable[code].pages, message);

/** Returns the error that is sent for a thrown error; null for an internal error. */
export function knownError(thrown: unknown): RestError | null {
  if (thrown instanceof GameNotLoaded) return restErrorOf(thrown.rejection);
  return thrown instanceof RestError ? thrown : malformed(thrown);
}

/** A request that failed, for the log. */
interface FailedRequest {
  readonly remoteAddress: string;
  readonly agent: string | null;
  readonly method: string;
  readonly path: string;
}

/** Returns the error that is sent for a thrown error. A known error is logged as a rejection; any other error is logged, and sent without details. */
export function errorFor(
  thrown: unknown,
  { remoteAddress, agent, method, path }: FailedRequest,
  { log, rejections }: { readonly log: Logger; readonly rejections: RejectionLog },
): RestError {
  const known = knownError(thrown);
  if (!known) {
    log.error({ err: thrown, method, path }, "internal error");
    return new RestError("INTERNAL_ERROR", "Internal error");
  }
  const { code, message: reason } = known;
  rejections.write(remoteAddress, { code, reason, agent, request: `${method} ${path}` });
  return known;
}

/** Answers the errors that routes throw. */
export function errorAnswers(logs: Parameters<typeof errorFor>[2]): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const { method, path } = request;
    const agent = (response.locals.agent as string | undefined) ?? null;
    const error = errorFor(thrown, { remoteAddress: remoteAddressOf(request), agent, method, path }, logs);
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  };
}

function sendError(response: Response, { code, message, status, headers }: RestError): void {
  response.status(status).set(headers).json({ error: { code, message } });
}

/** The error for a path that Express cannot decode; null for other errors. */
function malformed(thrown: unknown): RestError | null {
  const status = (thrown as { status?: unknown } | null)?.status;
  return status === 400 ? new RestError("INVALID_REQUEST", "Malformed URL") : null;
}
