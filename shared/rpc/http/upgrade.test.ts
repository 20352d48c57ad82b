import { once } from "node:events";
import { get, request as httpRequest } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../lib/clock.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import { rateLimit } from "../jsonrpc/rate-limit.ts";
import type { RejectedRequest } from "../jsonrpc/rejection-log.ts";
import { close, open, port } from "../testing/requests.ts";
import type { MessageSocket } from "../websocket/message-socket.ts";
import { createUpgrades, type UpgradeHandler, type Upgrades } from "./upgrade.ts";

const LIMIT_BYTES = 1_000;
let upgrades: Upgrades;
let accepted: { socket: MessageSocket; http: HttpContext; query: string }[] = [];
let closed = 0;
const errors: unknown[] = [];
const rejected: RejectedRequest[] = [];

/** `/echo` returns each message; `/secret` demands a token; `/broken` throws. */
const handler: UpgradeHandler = async ({ path, query, http }) => {
  if (path === "/broken") throw new Error("broken");
  if (path === "/secret" && http.bearer !== "right") return { status: 401, code: "UNAUTHORIZED", message: "no token" };
  if (path !== "/echo" && path !== "/secret") return null;
  return {
    accept(socket) {
      accepted.push({ socket, http, query: query.toString() });
      return { onMessage: (text) => socket.send(text), onClose: () => closed++ };
    },
  };
};

async function serve(perMinute = 1_000): Promise<void> {
  const gate = rateLimit({ perMinute, loopback: true, isTrusted: ({ token }) => token === "right" });
  const onError = (thrown: unknown): void => void errors.push(thrown);
  upgrades = createUpgrades({ handler, gate, bodyLimit: () => LIMIT_BYTES, clock: systemClock, onError });
  await open({ upgrades, gate, rejections: { write: (_, one) => void rejected.push(one) } });
}

afterEach(() => {
  upgrades.close();
  close();
  accepted = [];
  for (const list of [errors, rejected]) list.length = 0;
  closed = 0;
});

interface Call {
  readonly protocols?: string[];
  readonly headers?: Record<string, string>;
}

async function connect(path: string, { protocols = [], headers = {} }: Call = {}): Promise<WebSocket> {
  const options = { perMessageDeflate: false, maxPayload: 10_000, headers } as const;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, options);
  await once(socket, "open");
  return socket;
}

const HANDSHAKE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Resolves with the answer to a refused request for a WebSocket. */
async function refusal(path: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { ...HANDSHAKE, ...more };
  const [response] = await once(get({ host: "127.0.0.1", port, path, headers }), "response");
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

describe("a request for a WebSocket", () => {
  it("opens a WebSocket that carries messages in both directions in their order", async () => {
    await serve();
    const socket = await connect("/echo?after=7");
    const texts: string[] = [];
    socket.on("message", (data: Buffer) => texts.push(data.toString()));
    for (const text of ["1", "2", "three ü"]) socket.send(text);
    while (texts.length < 3) await once(socket, "message");
    expect([texts, accepted[0]?.query]).toEqual([["1", "2", "three ü"], "after=7"]);
    socket.close(1000, "");
    await once(socket, "close");
    await expect.poll(() => closed).toBe(1);
  });

  it("is refused with 404 at an unknown path, and with the status that its handler returns", async () => {
    await serve();
    const unknown = await refusal("/other");
    expect([unknown.status, JSON.parse(unknown.text).error.code]).toEqual([404, "NOT_FOUND"]);
    const unauthorized = await refusal("/secret");
    expect([unauthorized.status, JSON.parse(unauthorized.text)]).toEqual([
      401,
      { error: { code: "UNAUTHORIZED", message: "no token" } },
    ]);
    expect(rejected).toEqual([
      { code: 404, reason: "no WebSocket at this path", request: "GET /other" },
      { code: 401, reason: "no token", request: "GET /secret" },
    ]);
  });

  it("is refused with 403 if its Host or Origin is foreign, and with 429 above the rate limit", async () => {
    await serve(2);
    expect((await refusal("/echo", { host: "evil.example" })).status).toBe(403);
    expect((await refusal("/echo", { origin: "http://evil.example" })).status).toBe(403);
    expect((await refusal("/secret")).status).toBe(401);
    expect((await refusal("/secret")).status).toBe(401);
    const limited = await refusal("/secret");
    expect([limited.status, limited.headers["retry-after"]]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    await connect("/secret", { headers: { authorization: "Bearer right" } });
    expect(accepted).toHaveLength(1);
  });

  it("is refused with 500 if its handler throws, and with 400 if it is not a valid handshake", async () => {
    await serve();
    expect((await refusal("/broken")).status).toBe(500);
    expect(errors).toEqual([new Error("broken")]);
    expect((await refusal("/echo", { "sec-websocket-key": "short" })).status).toBe(400);
    expect(accepted).toEqual([]);
  });

  it("may carry its token in a subprotocol, which is not repeated in the answer", async () => {
    await serve();
    const both = await connect("/secret", { protocols: ["bearer.right", "league.v2"] });
    expect([(both as unknown as { protocol: string }).protocol, accepted[0]?.http.bearer]).toEqual([
      "league.v2",
      "right",
    ]);
    const headers = { ...HANDSHAKE, "sec-websocket-protocol": "bearer.right" };
    const [response] = await once(get({ host: "127.0.0.1", port, path: "/secret", headers }), "upgrade");
    expect([response.statusCode, response.headers["sec-websocket-protocol"]]).toEqual([101, undefined]);
  });

  it("is answered as a plain request if it asks for another protocol, such as HTTP/2", async () => {
    await serve();
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "content-type": "application/json" };
    const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/mcp", headers });
    request.end("{}");
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(200);
    response.resume();
  });
});

describe("an open WebSocket", () => {
  it("is closed with 1009 after a message above the limit, and with 1003 after a binary message", async () => {
    await serve();
    const large = await connect("/echo");
    large.send("x".repeat(LIMIT_BYTES + 1));
    const [largeCode] = await once(large, "close");
    const binary = await connect("/echo");
    binary.send(Buffer.from("x") as never);
    const [binaryCode] = await once(binary, "close");
    expect([largeCode, binaryCode]).toEqual([1009, 1003]);
  });

  it("is closed with 1001 when the server stops, even if its client does not answer", async () => {
    await serve();
    const socket = await connect("/echo");
    const silent = await connect("/echo");
    silent.pause();
    upgrades.close();
    const [code] = await once(socket, "close");
    expect(code).toBe(1001);
    await expect.poll(() => closed).toBe(2);
  });
});
