import { expect, test } from "vitest";
import { sha256Hex } from "../../lib/hash.ts";
import { isSignedFor, signFor } from "../../protocol/signing.ts";
import { rpcLeagueMessage } from "../testing/json-rpc.ts";
import type { McpHandler } from "./http.ts";
import { type RateLimitOptions, REQUESTS_PER_MINUTE, rateLimit } from "./rate-limit.ts";

const TOKEN = "the player's token";
const STRANGER = "203.0.113.7";

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

async function statuses(
  handler: ReturnType<typeof handlerWith>,
  from: string,
  body = call({}),
  bearer: string | null = null,
) {
  const found: number[] = [];
  for (let request = 0; request < 5; request++)
    found.push((await handler(body, { bearer, remoteAddress: from })).status);
  return found;
}

test("callers without a token are limited to 100 requests a minute at managers, 50 at referees and 10 at players", () => {
  expect(REQUESTS_PER_MINUTE).toEqual({ manager: 100, referee: 50, player: 10 });
});

test("a stranger is refused when the limit is passed, with the standard headers", async () => {
  const handler = handlerWith();
  expect(await statuses(handler, STRANGER)).toEqual([200, 200, 200, 429, 429]);
  const refused = await handler(call({}), { bearer: null, remoteAddress: STRANGER });
  expect(refused.headers).toMatchObject({
    "ratelimit-policy": '"default";q=3;w=60',
    "retry-after": expect.stringMatching(/^\d+$/),
  });
  expect(refused.headers?.ratelimit).toMatch(/^"default";r=0;t=\d+$/);
  expect(Number(refused.headers?.["retry-after"])).toBeGreaterThan(30); // of the minute that has just begun
  expect(JSON.parse(refused.body)).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32000 } });
});

test("a rejection carries the id of each request that it answers", async () => {
  const handler = handlerWith({ perMinute: 1 });
  await handler(call({}), { bearer: null, remoteAddress: STRANGER });
  const idsOf = async (body: string): Promise<unknown> => {
    const { status, body: text } = await handler(body, { bearer: null, remoteAddress: STRANGER });
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

test("each address has its own count", async () => {
  const handler = handlerWith();
  await statuses(handler, STRANGER);
  expect(await statuses(handler, "203.0.113.8")).toEqual([200, 200, 200, 429, 429]);
});

test.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])(
  "%s is not limited, unless limits.loopback says so",
  async (address) => {
    expect(await statuses(handlerWith(), address)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(handlerWith({ loopback: true }), address)).toEqual([200, 200, 200, 429, 429]);
  },
);

test("whoever has a valid token is not limited: bearer, argument or envelope", async () => {
  const all = [200, 200, 200, 200, 200];
  expect(await statuses(handlerWith(), STRANGER, call({}), "league token")).toEqual(all);
  expect(await statuses(handlerWith(), STRANGER, call({ auth_token: "league token" }))).toEqual(all);
  const signed = signFor(sha256Hex(TOKEN), "rps/R1M1");
  const move = { auth_token: signed, payload: { league_id: "rps", match_id: "R1M1" } };
  expect(await statuses(handlerWith(), STRANGER, call(move))).toEqual(all);
});

test.each(["auth_token", "seat_token", "game_token"])("a valid token may come as %s", async (name) => {
  expect(await statuses(handlerWith(), STRANGER, call({ [name]: "league token" }))).toEqual([200, 200, 200, 200, 200]);
  expect(await statuses(handlerWith(), STRANGER, call({ [name]: "guess" }))).toEqual([200, 200, 200, 429, 429]);
});

test("a false token, or one for another match, helps nobody", async () => {
  const limited = [200, 200, 200, 429, 429];
  expect(await statuses(handlerWith(), STRANGER, call({}), "guess")).toEqual(limited);
  const signed = signFor(sha256Hex(TOKEN), "rps/R1M1");
  const other = { auth_token: signed, payload: { league_id: "rps", match_id: "R1M2" } };
  expect(await statuses(handlerWith(), STRANGER, call(other))).toEqual(limited);
});

test.each(["not JSON", "[]", "null", '{"params":{"arguments":7}}', '{"params":{"arguments":{"auth_token":{}}}}'])(
  "a body that is no call (%s) counts as a stranger's",
  async (body) => {
    expect(await statuses(handlerWith(), STRANGER, body)).toEqual([200, 200, 200, 429, 429]);
  },
);

test("each call of a batch counts and shows its own token; a batch passes whole or not at all", async () => {
  const batch = (...args: object[]) => `[${args.map(call)}]`;
  expect(await statuses(handlerWith(), STRANGER, batch({}, {}))).toEqual([200, 429, 429, 429, 429]);
  expect(await statuses(handlerWith(), STRANGER, batch({}, {}, {}, {}))).toEqual([429, 429, 429, 429, 429]);
  const friend = { auth_token: "league token" };
  expect(await statuses(handlerWith(), STRANGER, batch(friend, friend))).toEqual([200, 200, 200, 200, 200]);
  expect(await statuses(handlerWith(), STRANGER, batch(friend, {}, friend))).toEqual([200, 200, 200, 429, 429]);
  expect(await statuses(handlerWith(), STRANGER, batch({}, {}), "league token")).toEqual([200, 200, 200, 200, 200]);
});
