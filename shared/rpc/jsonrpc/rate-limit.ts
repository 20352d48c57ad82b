import type { RateLimiterRes } from "rate-limiter-flexible";
import { z } from "zod";
import { matchRef } from "../../lib/ids.ts";
import { lazily } from "../../lib/lazy.ts";
import { parsedJson } from "../../lib/text.ts";
import { isLoopback, networkOf } from "../../protocol/addresses.ts";
import type { Gate, HttpContext, HttpReply } from "./http-context.ts";
import { idOf, MAX_BATCH, TOO_MANY } from "./json-rpc.ts";

/** The largest number of requests per minute of a remote caller without a valid token, by the kind of agent that it calls. */
export const REQUESTS_PER_MINUTE = { manager: 100, referee: 50, player: 10 } as const;

/**
 * The largest number of pages, files of pages and other documents per minute that one remote network without a valid token reads by GET. A page
 * needs about ten files at first, and all browsers of a school may have one address.
 */
const READS_PER_MINUTE = 3_000;

/**
 * The largest number of new agents, sessions and games per minute of one remote network, by the kind of agent that it calls. It applies to callers
 * with a valid token too, because every caller can get a token. The limit of a session host (referee) is above its limit for requests, because
 * programs of other machines may play many short games.
 */
export const CREATIONS_PER_MINUTE = { manager: 100, referee: 300 } as const;

/** A token of a request, and the league or match of the request. */
interface Credentials {
  readonly token: string;
  /** `league_id/match_id`, or `league_id` without a match, as in the signature of messages; null if the request names no league. */
  readonly subject: string | null;
}

/** The options of `rateLimit`. */
export interface RateLimitOptions {
  /** The largest number of requests per minute of one network without a valid token. */
  readonly perMinute: number;
  /** The largest number of requests by GET, which are counted separately. Default: `READS_PER_MINUTE`. */
  readonly readsPerMinute?: number;
  /** Whether the limits apply to callers on loopback. */
  readonly loopback: boolean;
  /** Whether a token is valid (of a league, an agent or a seat). Requests with a valid token are not limited. */
  readonly isTrusted: (credentials: Credentials, http: HttpContext) => boolean;
  /** The limit of calls that create an agent, session or game; absent for endpoints without such calls. */
  readonly creations?: CreationRules;
}

/** Defines which calls of `/mcp` create an agent, session or game, and their limit. */
interface CreationRules {
  readonly limit: CreationLimit;
  /** The names of tools and the types of messages that create something. */
  readonly requests: ReadonlySet<string>;
  /** Whether a call with this token creates nothing, because the agent exists and registers again. */
  readonly isReturn?: (token: string, creation: Creation) => boolean;
}

/** A call that may create an agent, session or game. */
export interface Creation {
  /** The tool and the message type of the call, if `CreationRules.requests` contains them. */
  readonly requests: readonly string[];
  /** All names in the call that the agent could get. */
  readonly names: readonly string[];
}

const text = z.string().optional().catch(undefined);
const named = {
  league_id: text,
  match_id: text,
  auth_token: text,
  seat_token: text,
  game_token: text,
  player_token: text,
  type: text,
  display_name: text,
  player_name: text,
  referee_name: text,
};
const Arguments = z.object({ ...named, payload: z.object(named).optional().catch(undefined) });
const Call = z.object({
  params: z.object({ name: text, arguments: Arguments.optional().catch(undefined) }),
});

/** The decision of a rate limiter on one request, with the standard headers for the caller. */
interface Allowance {
  readonly isAllowed: boolean;
  /** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers); also Retry-After if the request is rejected. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns a function that counts the requests of each key and allows at most `perMinute` of them per minute. The `requests` of one call are allowed
 * together or rejected together. The library is loaded at the first call, because most agents are called only on loopback, which is not limited.
 */
export function rateLimiter(
  perMinute: number,
  policy = "default",
): (key: string, requests?: number) => Promise<Allowance> {
  const load = lazily("the rate limiter", async () => {
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
      const retryAfterSeconds = Math.ceil(thrown.msBeforeNext / 1000);
      return { isAllowed: false, headers: { "retry-after": String(retryAfterSeconds), ...headersOf(thrown) } };
    }
  };
}

/** Counts the creations of the network of an address. Resolves with null for a caller that is not limited. */
export type CreationLimit = (remoteAddress: string, creations?: number) => Promise<Allowance | null>;

/** Creates the limit of an agent for creations, shared by all of its interfaces: `rateLimit` counts calls of `/mcp`, and REST routes count their requests. */
export function creationLimit(perMinute: number, loopback: boolean): CreationLimit {
  const consume = rateLimiter(perMinute, "creations");
  return async (remoteAddress, creations = 1) =>
    !loopback && isLoopback(remoteAddress) ? null : consume(networkOf(remoteAddress), creations);
}

/** Creates a gate that limits requests by the network of the caller: status 429 with the standard headers above a limit (PROTOCOL.md, section 3). */
export function rateLimit(options: RateLimitOptions): Gate {
  const { perMinute, readsPerMinute = READS_PER_MINUTE } = options;
  const consumeRequests = rateLimiter(perMinute);
  const consumeReads = rateLimiter(readsPerMinute, "reads");
  return async (body, http) => {
    if (!options.loopback && isLoopback(http.remoteAddress)) return null;
    const message = parsedJson(body);
    const calls = callsOf(message);
    const untrusted = calls.filter(
      (call) => !credentialsOf(call, http).some((credentials) => options.isTrusted(credentials, http)),
    );
    const consume = http.isRead ? consumeReads : consumeRequests;
    const allowance = untrusted.length === 0 ? null : await consume(networkOf(http.remoteAddress), untrusted.length);
    if (allowance && !allowance.isAllowed) {
      const reason = `Too many requests: at most ${http.isRead ? readsPerMinute : perMinute} per minute without a valid token; see Retry-After`;
      return { rejection: tooMany(allowance.headers, reason, message), headers: allowance.headers };
    }
    const { creations } = options;
    const creating = creations ? calls.filter((call) => creates(call, http, creations)) : [];
    const created = creating.length === 0 ? null : await creations?.limit(http.remoteAddress, creating.length);
    if (created && !created.isAllowed) {
      return { rejection: tooMany(created.headers, TOO_MANY_CREATIONS, message), headers: created.headers };
    }
    return allowance ? { rejection: null, headers: allowance.headers } : null;
  };
}

/** The error message of a creation above the limit. */
export const TOO_MANY_CREATIONS = "Too many new agents, sessions or games from your network; see Retry-After";

/** Whether a call creates an agent, session or game. */
function creates(call: unknown, http: HttpContext, { requests, isReturn }: CreationRules): boolean {
  const params = Call.safeParse(call).data?.params;
  const creatingRequests = [params?.name, params?.arguments?.type].filter(isText).filter((name) => requests.has(name));
  if (creatingRequests.length === 0) return false;
  const names = [params?.arguments, params?.arguments?.payload].flatMap((fields) => [
    fields?.display_name,
    fields?.player_name,
    fields?.referee_name,
  ]);
  const creation = { requests: creatingRequests, names: names.filter(isText) };
  return !credentialsOf(call, http).some(({ token }) => isReturn?.(token, creation));
}

const isText = (value: string | undefined): value is string => value !== undefined;

/** Returns the calls of a message, each of which is counted. A message that is not a batch is one call. */
function callsOf(message: unknown): readonly unknown[] {
  return Array.isArray(message) && message.length > 0 ? message : [message];
}

/** Returns the tokens of a call: the bearer token and the tokens in the arguments. */
function credentialsOf(call: unknown, http: HttpContext): readonly Credentials[] {
  const args = Call.safeParse(call).data?.params.arguments;
  const { league_id, match_id } = { ...args, ...args?.payload };
  const subject = league_id === undefined ? null : match_id === undefined ? league_id : matchRef(league_id, match_id);
  const { seat_token, game_token, player_token } = { ...args, ...args?.payload };
  const tokens = [http.bearer, args?.auth_token, seat_token, game_token, player_token];
  return tokens.flatMap((token) => (token ? [{ token, subject }] : []));
}

/** Returns status 429 with an error for the id of each call, or one error for a batch above the size limit. */
function tooMany(headers: Allowance["headers"], reason: string, message: unknown): HttpReply {
  const error = { code: TOO_MANY, message: reason };
  const answer = (call: unknown) => ({ jsonrpc: "2.0", id: idOf(call), error });
  const isBatch = Array.isArray(message) && message.length > 0 && message.length <= MAX_BATCH;
  return { status: 429, headers, body: JSON.stringify(isBatch ? message.map(answer) : answer(message)) };
}
