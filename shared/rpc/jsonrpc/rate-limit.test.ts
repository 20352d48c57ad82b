import { expect, test } from "vitest";
import { sha256Hex } from "../../lib/hash.ts";
import { isSignedFor, signFor } from "../../protocol/signing.ts";
import { rpcLeagueMessage } from "../testing/json-rpc.ts";
import type { McpHandler } from "./http-context.ts";
import { type RateLimitOptions, REQUESTS_PER_MINUTE, rateLimit } from "./rate-limit.ts";

const TOKEN = "the player's token";
const REMOTE_ADDRESS = "203.0.113.7";

function handlerWith(options: Partial<RateLimitOptions> = {}): McpHandler {
  const gate = rateLimit({
    perMinute: 3,
    loopback: false,
    isTrusted: ({ token, subject }) =>
      token === "league token" || (subject !== null && isSignedFor(TOKEN, subject, token)),
    ...options,
  });
  return async (body, http) => (await gate(body, http))?.rejection ?? { status: 200, body: "ok" };
}

const call = (args: object): string => JSON.stringify(rpcLeagueMessage(args));

/** Sends five equal requests. Resolves with their HTTP statuses. */
async function statuses(
  handler: ReturnType<typeof handlerWith>,
  remoteAddress: string,
  body = call({}),
  bearer: string | null = null,
) {
  const statusCodes: number[] = [];
  for (let request = 0; request < 5; request++)
    statusCodes.push((await handler(body, { bearer, remoteAddress })).status);
  return statusCodes;
}

test("callers without a valid token may send 100 requests per minute to managers, 50 to referees and 10 to players", () => {
  expect(REQUESTS_PER_MINUTE).toEqual({ manager: 100, referee: 50, player: 10 });
});

test("a caller without a token is rejected above the limit, with the standard headers", async () => {
  const handler = handlerWith();
  expect(await statuses(handler, REMOTE_ADDRESS)).toEqual([200, 200, 200, 429, 429]);
  const rejected = await handler(call({}), { bearer: null, remoteAddress: REMOTE_ADDRESS });
  expect(rejected.headers).toMatchObject({
    "ratelimit-policy": '"default";q=3;w=60',
    "retry-after": expect.stringMatching(/^\d+$/),
  });
  expect(rejected.headers?.ratelimit).toMatch(/^"default";r=0;t=\d+$/);
  expect(Number(rejected.headers?.["retry-after"])).toBeGreaterThan(30); // most of the minute remains
  expect(JSON.parse(rejected.body)).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32000 } });
});

test("requests by GET are counted separately", async () => {
  const handler = handlerWith({ readsPerMinute: 4 });
  const read = async (): Promise<number> =>
    (await handler("", { bearer: null, remoteAddress: REMOTE_ADDRESS, isRead: true })).status;
  expect(await statuses(handler, REMOTE_ADDRESS)).toEqual([200, 200, 200, 429, 429]);
  expect([await read(), await read(), await read(), await read(), await read()]).toEqual([200, 200, 200, 200, 429]);
});

test("a rejection contains an error for the id of each request", async () => {
  const handler = handlerWith({ perMinute: 1 });
  await handler(call({}), { bearer: null, remoteAddress: REMOTE_ADDRESS });
  const idsOf = async (body: string): Promise<unknown> => {
    const { status, body: text } = await handler(body, { bearer: null, remoteAddress: REMOTE_ADDRESS });
    expect(status).toBe(429);
    const answer = JSON.parse(text);
    return Array.isArray(answer) ? answer.map(({ id }) => id) : answer.id;
  };
  expect(await idsOf('{"jsonrpc":"2.0","id":"a","method":"ping"}')).toBe("a");
  expect(await idsOf('[{"id":1,"method":"ping"},{"method":"ping"},{"id":"b","method":"ping"}]')).toEqual([
    1,
    null,
    "b",
  ]);
  expect(await idsOf(JSON.stringify(Array(101).fill({ id: 1 })))).toBe(null);
  expect(await idsOf("not JSON")).toBe(null);
});

test("an IPv6 caller is counted by its /64 prefix", async () => {
  const handler = handlerWith();
  expect(await statuses(handler, "2001:db8:0:1::1")).toEqual([200, 200, 200, 429, 429]);
  expect(await statuses(handler, "2001:db8:0:1:ffff::2")).toEqual([429, 429, 429, 429, 429]);
  expect(await statuses(handler, "2001:db8:0:2::1")).toEqual([200, 200, 200, 429, 429]);
});

test("each IPv4 address is counted separately", async () => {
  const handler = handlerWith();
  await statuses(handler, REMOTE_ADDRESS);
  expect(await statuses(handler, "203.0.113.8")).toEqual([200, 200, 200, 429, 429]);
});

test.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])(
  "the loopback address %s is limited only if limits.loopback is true",
  async (address) => {
    expect(await statuses(handlerWith(), address)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(handlerWith({ loopback: true }), address)).toEqual([200, 200, 200, 429, 429]);
  },
);

test("a caller with a valid token as bearer, in the arguments or in an envelope is not limited", async () => {
  const unlimited = [200, 200, 200, 200, 200];
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, call({}), "league token")).toEqual(unlimited);
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, call({ auth_token: "league token" }))).toEqual(unlimited);
  const signed = signFor(sha256Hex(TOKEN), "rps/R1M1");
  const move = { auth_token: signed, payload: { league_id: "rps", match_id: "R1M1" } };
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, call(move))).toEqual(unlimited);
});

test.each(["auth_token", "seat_token", "game_token"])(
  "a caller with a valid token in %s is not limited",
  async (name) => {
    expect(await statuses(handlerWith(), REMOTE_ADDRESS, call({ [name]: "league token" }))).toEqual([
      200, 200, 200, 200, 200,
    ]);
    expect(await statuses(handlerWith(), REMOTE_ADDRESS, call({ [name]: "guess" }))).toEqual([200, 200, 200, 429, 429]);
  },
);

test("a caller with an invalid token or a token of another match is limited", async () => {
  const limited = [200, 200, 200, 429, 429];
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, call({}), "guess")).toEqual(limited);
  const signed = signFor(sha256Hex(TOKEN), "rps/R1M1");
  const otherMatch = { auth_token: signed, payload: { league_id: "rps", match_id: "R1M2" } };
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, call(otherMatch))).toEqual(limited);
});

test.each(["not JSON", "[]", "null", '{"params":{"arguments":7}}', '{"params":{"arguments":{"auth_token":{}}}}'])(
  "a body that is not a call (%s) is counted as a request without a token",
  async (body) => {
    expect(await statuses(handlerWith(), REMOTE_ADDRESS, body)).toEqual([200, 200, 200, 429, 429]);
  },
);

test("each call of a batch without a valid token is counted, and a batch passes or is rejected as a whole", async () => {
  const batch = (...args: object[]) => `[${args.map(call)}]`;
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, batch({}, {}))).toEqual([200, 429, 429, 429, 429]);
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, batch({}, {}, {}, {}))).toEqual([429, 429, 429, 429, 429]);
  const trusted = { auth_token: "league token" };
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, batch(trusted, trusted))).toEqual([200, 200, 200, 200, 200]);
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, batch(trusted, {}, trusted))).toEqual([200, 200, 200, 429, 429]);
  expect(await statuses(handlerWith(), REMOTE_ADDRESS, batch({}, {}), "league token")).toEqual([
    200, 200, 200, 200, 200,
  ]);
});
