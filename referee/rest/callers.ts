import type { Request, Response } from "express";
import type { Viewer } from "#shared/games/game.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { bearerOf, readBody, remoteAddressOf } from "#shared/rpc/http/request.ts";
import { type CreationLimit, rateLimiter, TOO_MANY_CREATIONS } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { AgentDirectory } from "../agents.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import { rejection } from "../sessions/rejections.ts";
import { RestError, restErrorOf } from "./errors.ts";

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
