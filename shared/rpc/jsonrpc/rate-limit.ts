import type { RateLimiterRes } from "rate-limiter-flexible";
import { z } from "zod";
import { matchRef } from "../../lib/ids.ts";
import { lazily } from "../../lib/lazy.ts";
import { parsedJson } from "../../lib/text.ts";
import { isLoopback, networkOf } from "../../protocol/addresses.ts";
import type { Gate, HttpContext, HttpReply } from "./http.ts";
import { idOf, MAX_BATCH } from "./json-rpc.ts";

/** Requests a minute of a remote caller without a valid token. */
export const REQUESTS_PER_MINUTE = { manager: 100, referee: 50, player: 10 } as const;

/**
 * New agents, sessions and games a minute of one remote network, with or without a valid token, because a token is free. The limit of a
 * session host is higher than its limit of requests without a token, because a program on another machine may play many short games.
 */
export const CREATIONS_PER_MINUTE = { manager: 100, referee: 300 } as const;

/** A token in a request, with the subject that the token must be valid for. */
interface Credentials {
  readonly token: string;
  /** `league_id/match_id` or `league_id`, as in signatures of messages; null if the request names neither. */
  readonly subject: string | null;
}

export interface RateLimitOptions {
  readonly perMinute: number;
  /** Whether the limit applies to callers on loopback too. */
  readonly loopback: boolean;
  /** A request with a valid token (league, agent or seat) is not limited. */
  readonly isTrusted: (credentials: Credentials) => boolean;
  readonly creations?: CreationRules;
}

/** Determines which calls of `/mcp` create an agent, session or game. */
interface CreationRules {
  readonly limit: CreationLimit;
  /** The names of tools and types of messages that create something. */
  readonly requests: ReadonlySet<string>;
  /** Whether a call with this token creates nothing, because it is of a registered agent that returns. */
  readonly isReturn?: (token: string, creation: Creation) => boolean;
}

export interface Creation {
  /** The tool and the message type of the call, if they are in `CreationRules.requests`. */
  readonly requests: readonly string[];
  /** The names in the call that the agent may be registered with. */
  readonly names: readonly string[];
}

const text = z.string().optional().catch(undefined);
const named = {
  ...{ league_id: text, match_id: text, auth_token: text, seat_token: text, game_token: text },
  ...{ type: text, display_name: text, player_name: text, referee_name: text },
};
const Arguments = z.object({ ...named, payload: z.object(named).optional().catch(undefined) });
const Call = z.object({
  params: z.object({ name: text, arguments: Arguments.optional().catch(undefined) }),
});

/** The decision of a limiter about one request, and the standard headers for the caller. */
interface Allowance {
  readonly isAllowed: boolean;
  /** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers); Retry-After for a rejected request. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a function that counts requests by key and rejects those beyond `perMinute`. Requests that are counted together are accepted or
 * rejected together. The library is loaded with the first request, because most agents have no remote callers.
 */
export function rateLimiter(
  perMinute: number,
  policy = "default",
): (key: string, requests?: number) => Promise<Allowance> {
  const load = lazily(async () => {
    const { RateLimiterMemory, RateLimiterRes } = await import("rate-limiter-flexible");
    return { limiter: new RateLimiterMemory({ points: perMinute, duration: 60 }), Exceeded: RateLimiterRes };
  });
  const headersOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes) => ({
    "ratelimit-policy": `"${policy}";q=${perMinute};w=60`,
    ratelimit: `"${policy}";r=${Math.max(0, remainingPoints)};t=${Math.ceil(msBeforeNext / 1000)}`,
  });
  return async (key, requests = 1) => {
    const { limiter, Exceeded } = await load();
    try {
      return { isAllowed: true, headers: headersOf(await limiter.consume(key, requests)) };
    } catch (thrown) {
      if (!(thrown instanceof Exceeded)) throw thrown;
      const seconds = Math.ceil(thrown.msBeforeNext / 1000);
      return { isAllowed: false, headers: { "retry-after": String(seconds), ...headersOf(thrown) } };
    }
  };
}

/** Counts the creations of a network. Resolves with null for a caller without a limit. */
export type CreationLimit = (remoteAddress: string, creations?: number) => Promise<Allowance | null>;

/** Returns one limit for all interfaces of an endpoint: `rateLimit` counts the calls of `/mcp`, and each REST route counts its requests. */
export function creationLimit(perMinute: number, loopback: boolean): CreationLimit {
  const take = rateLimiter(perMinute, "creations");
  return async (remoteAddress, creations = 1) =>
    !loopback && isLoopback(remoteAddress) ? null : take(networkOf(remoteAddress), creations);
}

/** Returns a gate that limits requests by address. Requests beyond the limit are answered with 429 and the standard headers (PROTOCOL.md, section 3). */
export function rateLimit(options: RateLimitOptions): Gate {
  const take = rateLimiter(options.perMinute);
  return async (body, http) => {
    if (!options.loopback && isLoopback(http.remoteAddress)) return null;
    const message = parsedJson(body);
    const calls = callsOf(message);
    const untrusted = calls.filter((call) => !credentialsOf(call, http).some(options.isTrusted));
    const all = untrusted.length === 0 ? null : await take(networkOf(http.remoteAddress), untrusted.length);
    if (all && !all.isAllowed) {
      const reason = `Too many requests: ${options.perMinute} a minute without a token`;
      return { rejection: tooMany(all.headers, reason, message), headers: all.headers };
    }
    const { creations } = options;
    const creating = creations ? calls.filter((call) => creates(call, http, creations)) : [];
    const created = creating.length === 0 ? null : await creations?.limit(http.remoteAddress, creating.length);
    if (created && !created.isAllowed) {
      return { rejection: tooMany(created.headers, TOO_MANY_CREATIONS, message), headers: created.headers };
    }
    return all ? { rejection: null, headers: all.headers } : null;
  };
}

/** The error message for a rejected creation. */
export const TOO_MANY_CREATIONS = "Too many new agents, sessions or games from your network; see Retry-After";

function creates(call: unknown, http: HttpContext, { requests, isReturn }: CreationRules): boolean {
  const params = Call.safeParse(call).data?.params;
  const creating = [params?.name, params?.arguments?.type].filter(isText).filter((request) => requests.has(request));
  if (creating.length === 0) return false;
  const names = [params?.arguments, params?.arguments?.payload].flatMap((given) => [
    given?.display_name,
    given?.player_name,
    given?.referee_name,
  ]);
  const creation = { requests: creating, names: names.filter(isText) };
  return !credentialsOf(call, http).some(({ token }) => isReturn?.(token, creation));
}

const isText = (value: string | undefined): value is string => value !== undefined;

/** Returns the calls of a message, each of which is counted. A message that is not a batch counts as one call. */
function callsOf(message: unknown): readonly unknown[] {
  return Array.isArray(message) && message.length > 0 ? message : [message];
}

/** Returns every token of a call: the bearer token, and the tokens in the arguments. */
function credentialsOf(call: unknown, http: HttpContext): readonly Credentials[] {
  const args = Call.safeParse(call).data?.params.arguments;
  const { league_id, match_id } = { ...args, ...args?.payload };
  const subject = league_id === undefined ? null : match_id === undefined ? league_id : matchRef(league_id, match_id);
  const { seat_token, game_token } = { ...args, ...args?.payload };
  const tokens = [http.bearer, args?.auth_token, seat_token, game_token];
  return tokens.flatMap((token) => (token ? [{ token, subject }] : []));
}

/** Answers each call with its id. A batch beyond the maximum length receives one answer. */
function tooMany(headers: Allowance["headers"], reason: string, message: unknown): HttpReply {
  const error = { code: -32000, message: reason };
  const answer = (call: unknown) => ({ jsonrpc: "2.0", id: idOf(call), error });
  const isBatch = Array.isArray(message) && message.length > 0 && message.length <= MAX_BATCH;
  return { status: 429, headers, body: JSON.stringify(isBatch ? message.map(answer) : answer(message)) };
}
