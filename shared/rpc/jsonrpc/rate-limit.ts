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
 * New agents, sessions and games a minute of one remote network, with a valid token or without, because a token is free. A session host
 * allows more than it allows requests without a token: programs that play many short games from another machine are legitimate.
 */
export const CREATIONS_PER_MINUTE = { manager: 100, referee: 300 } as const;

/** What a request brings to prove who sent it, and what it is about. */
interface Credentials {
  readonly token: string;
  /** `league_id/match_id`, or `league_id` alone, as messages are signed for; null when it names neither. */
  readonly subject: string | null;
}

export interface RateLimitOptions {
  readonly perMinute: number;
  /** Whether callers on loopback are held to it too. */
  readonly loopback: boolean;
  /** A request with a valid token (league, agent or seat) is not limited. */
  readonly isTrusted: (credentials: Credentials) => boolean;
  readonly creations?: CreationRules;
}

/** Which calls of `/mcp` create an agent, session or game. */
interface CreationRules {
  readonly limit: CreationLimit;
  /** Names of tools and types of messages. */
  readonly requests: ReadonlySet<string>;
  /** Whether a call with this token creates nothing, because an agent comes back. */
  readonly isReturn?: (token: string, creation: Creation) => boolean;
}

export interface Creation {
  /** The tool and the message type by which it is asked for, as far as they are in `requests`. */
  readonly requests: readonly string[];
  /** Every name that the call could give to the agent. */
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

/** What a limiter says to one request: whether it may pass, and the standard headers that tell the caller so. */
interface Allowance {
  readonly isAllowed: boolean;
  /** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers), and Retry-After of a rejection. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Counts requests by key, so many a minute each; several that came together pass together or not at all. The library is loaded with the
 * first of them: most agents only ever talk to their own machine, which is not limited.
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

/** Counts what a network creates; null for a caller that is not limited. */
export type CreationLimit = (remoteAddress: string, creations?: number) => Promise<Allowance | null>;

/** One limit for all ways to create something at an endpoint: `rateLimit` counts the calls of `/mcp`, a REST route its own requests. */
export function creationLimit(perMinute: number, loopback: boolean): CreationLimit {
  const take = rateLimiter(perMinute, "creations");
  return async (remoteAddress, creations = 1) =>
    !loopback && isLoopback(remoteAddress) ? null : take(networkOf(remoteAddress), creations);
}

/** A limit by address: 429 with the standard headers when it is passed (PROTOCOL.md, section 3). */
export function rateLimit(options: RateLimitOptions): Gate {
  const take = rateLimiter(options.perMinute);
  return async (body, http) => {
    if (!options.loopback && isLoopback(http.remoteAddress)) return null;
    const message = parsedJson(body);
    const calls = callsOf(message);
    const untrusted = calls.filter((call) => !credentialsOf(call, http).some(options.isTrusted));
    const all = untrusted.length === 0 ? null : await take(networkOf(http.remoteAddress), untrusted.length);
    if (all && !all.isAllowed) {
      const why = `Too many requests: ${options.perMinute} a minute without a token`;
      return { rejection: tooMany(all.headers, why, message), headers: all.headers };
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

/** The error message of a refused creation. */
export const TOO_MANY_CREATIONS = "Too many new agents, sessions or games from your network; see Retry-After";

function creates(call: unknown, http: HttpContext, { requests, isReturn }: CreationRules): boolean {
  const params = Call.safeParse(call).data?.params;
  const asked = [params?.name, params?.arguments?.type].filter(isText).filter((one) => requests.has(one));
  if (asked.length === 0) return false;
  const names = [params?.arguments, params?.arguments?.payload].flatMap((given) => [
    given?.display_name,
    given?.player_name,
    given?.referee_name,
  ]);
  const creation = { requests: asked, names: names.filter(isText) };
  return !credentialsOf(call, http).some(({ token }) => isReturn?.(token, creation));
}

const isText = (value: string | undefined): value is string => value !== undefined;

/** The calls of a message, each of which is counted; anything that is no batch counts as one. */
function callsOf(message: unknown): readonly unknown[] {
  return Array.isArray(message) && message.length > 0 ? message : [message];
}

/** Every token in a call: the bearer's, and that of its arguments. */
function credentialsOf(call: unknown, http: HttpContext): readonly Credentials[] {
  const args = Call.safeParse(call).data?.params.arguments;
  const { league_id, match_id } = { ...args, ...args?.payload };
  const subject = league_id === undefined ? null : match_id === undefined ? league_id : matchRef(league_id, match_id);
  const { seat_token, game_token } = { ...args, ...args?.payload };
  const tokens = [http.bearer, args?.auth_token, seat_token, game_token];
  return tokens.flatMap((token) => (token ? [{ token, subject }] : []));
}

/** Answers each call by its id; a batch that is longer than any that is taken gets one answer. */
function tooMany(headers: Allowance["headers"], why: string, message: unknown): HttpReply {
  const error = { code: -32000, message: why };
  const answer = (call: unknown) => ({ jsonrpc: "2.0", id: idOf(call), error });
  const isBatch = Array.isArray(message) && message.length > 0 && message.length <= MAX_BATCH;
  return { status: 429, headers, body: JSON.stringify(isBatch ? message.map(answer) : answer(message)) };
}
