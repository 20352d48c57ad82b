import type { Request, Response } from "express";
import { isLoopback, networkOf } from "#shared/rpc/addresses.ts";
import { collect } from "#shared/rpc/http-endpoint.ts";
import { REQUESTS_PER_MINUTE, rateLimiter } from "#shared/rpc/rate-limit.ts";
import { RestError } from "./errors.ts";

/** Requests a minute of one agent. */
const AGENT_PER_MINUTE = 6_000;
const BODY_BYTES = 64 * 1024;

/** How often somebody may ask; both throw TOO_MANY_REQUESTS. */
export interface Limits {
  stranger(request: Request, response: Response): Promise<void>;
  agent(agentId: string, request: Request, response: Response): Promise<void>;
}

/** The whole body as text; throws for one that is too large. */
export function bodyOf(request: Request, response: Response): Promise<string> {
  return new Promise((resolve, reject) => {
    collect(request, BODY_BYTES, (body) => {
      if (body !== null) return resolve(body);
      response.set("connection", "close");
      reject(new RestError("INVALID_REQUEST", `The body is larger than ${BODY_BYTES} bytes`, { status: 413 }));
    });
  });
}

/** Limits by address for strangers and by agent for those who have a token; throws TOO_MANY_REQUESTS. */
export function limitsOf(limitLoopback: boolean): Limits {
  const byAddress = rateLimiter(REQUESTS_PER_MINUTE.referee);
  const byAgent = rateLimiter(AGENT_PER_MINUTE);
  const hold = async (limit: typeof byAgent, key: string, request: Request, response: Response): Promise<void> => {
    if (!limitLoopback && isLoopback(request.socket.remoteAddress ?? "")) return;
    const { isAllowed, headers } = await limit(key);
    response.set(headers);
    if (!isAllowed) throw new RestError("TOO_MANY_REQUESTS", "Too many requests; see Retry-After", { headers });
  };
  return {
    stranger: (request: Request, response: Response) =>
      hold(byAddress, networkOf(request.socket.remoteAddress ?? ""), request, response),
    agent: (agentId: string, request: Request, response: Response) => hold(byAgent, agentId, request, response),
  };
}
