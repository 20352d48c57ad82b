import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../lib/clock.ts";
import type { HttpContext, HttpReply } from "../jsonrpc/http-context.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { httpEndpoint } from "./endpoint.ts";
import { createForwarder, type Forwarding } from "./forwarding.ts";
import { createUpgrades } from "./upgrade.ts";

/** The first server passes requests below /far/ on to the second, which names the caller that it has seen. */
let servers: { readonly server: Server; readonly close: () => void }[] = [];
let ports: number[] = [];
/** The requests that the second server has received. */
let received: HttpContext[] = [];
/** The answer of the second server. */
let answer: (body: string, http: HttpContext) => Promise<HttpReply>;
let web: (request: IncomingMessage, response: import("node:http").ServerResponse) => void;
let isGone404 = false;
/** The servers that did not listen. */
let gone: string[] = [];

const HEADER = "test-caller";

/** The rules of the test: the header is not signed. */
const rules = (passesOn: boolean): Forwarding => ({
  destinationOf: ({ url = "" }) =>
    passesOn && url.startsWith("/far/")
      ? {
          origin: `http://127.0.0.1:${ports[1]}`,
          ...(isGone404 && { whenGone: { status: 404, body: '{"gone":true}' } }),
        }
      : null,
  headersFor: (caller) => ({ [HEADER]: JSON.stringify(caller) }),
  callerIn: ({ headers }) => (headers[HEADER] === undefined ? null : JSON.parse(String(headers[HEADER]))),
  onGone: ({ origin }) => void gone.push(origin),
  isServer: () => false,
});

async function start(passesOn: boolean): Promise<void> {
  const onError = (thrown: unknown): void => {
    throw thrown;
  };
  const upgrades = createUpgrades({
    handler: ({ path, http }) => {
      received.push(http);
      if (path !== "/far/echo") return { status: 401, code: "UNAUTHORIZED", message: "no" };
      return { accept: (socket) => ({ onMessage: (text) => socket.send(`echo ${text}`), onClose: () => {} }) };
    },
    ...{ bodyLimit: () => 1_000, clock: systemClock, onError },
  });
  const forwarder = createForwarder(rules(passesOn));
  const server = httpEndpoint({
    handler: async () => ({ status: 500, body: "" }),
    posts: {
      isAt: (path) => path.startsWith("/far/post"),
      handler: (body, http) => {
        received.push(http);
        return answer(body, http);
      },
    },
    web: async () => (request, response) => web(request, response),
    ...{ upgrades, forwarder, bodyLimit: () => 1_000_000, allowedHosts: ["league.example"], onError },
  });
  servers.push({
    server,
    close() {
      upgrades.close();
      forwarder.close();
    },
  });
  ports.push(await listenOnLoopback(server));
}

beforeEach(async () => {
  servers = [];
  ports = [];
  received = [];
  isGone404 = false;
  gone = [];
  answer = async (body) => ({ status: 201, body: JSON.stringify({ length: body.length }) });
  web = (_, response) => void response.end("page");
  await start(true);
  await start(false);
});

afterEach(async () => {
  for (const { server, close } of servers) {
    close();
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
});

const post = (path: string, body: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${ports[0]}${path}`, {
    ...{ method: "POST", body, headers: { "content-type": "application/json", ...headers } },
    ...(signal && { signal }),
  });

describe("a request that belongs to another server of the service", () => {
  it("is answered there, with the address and the origin of its caller", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9", authorization: "Bearer T" };
    const reply = await post("/far/post?after=3", "x".repeat(100_000), headers);
    expect([reply.status, await reply.json()]).toEqual([201, { length: 100_000 }]);
    expect(received).toMatchObject([
      {
        ...{ bearer: "T", remoteAddress: "203.0.113.9", target: "/far/post?after=3", isPassedOn: true },
        origin: `http://127.0.0.1:${ports[0]}`,
      },
    ]);
  });

  it("is rejected by the first server if its Host is wrong", async () => {
    const request = httpRequest({ port: ports[0], path: "/far/page", headers: { host: "evil.example" } });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect([reply.statusCode, received]).toEqual([403, []]);
  });

  it("with a Host or an Origin that only the first server knows is answered", async () => {
    const headers = { host: "league.example", origin: "http://league.example" };
    const request = httpRequest({ port: ports[0], path: "/far/page", headers });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(200);
  });

  it("that another server has passed on is not passed on again", async () => {
    const caller = JSON.stringify({ remoteAddress: "203.0.113.9", origin: "" });
    await post("/far/post", "{}", { [HEADER]: caller });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ remoteAddress: "203.0.113.9", origin: "", isPassedOn: true });
  });

  it("has a streamed answer, whose parts arrive when they are sent", async () => {
    const second = Promise.withResolvers<void>();
    web = async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      response.write("data: 1\n\n");
      await second.promise;
      response.end("data: 2\n\n");
    };
    const reply = await fetch(`http://127.0.0.1:${ports[0]}/far/stream`);
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const nextPart = async () => Buffer.from((await reader.read()).value ?? []).toString();
    expect(reply.headers.get("content-type")).toBe("text/event-stream");
    expect(await nextPart()).toBe("data: 1\n\n");
    second.resolve();
    expect(await nextPart()).toBe("data: 2\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  it("is cancelled there when its caller disconnects", async () => {
    const isCancelled = Promise.withResolvers<void>();
    const hasArrived = Promise.withResolvers<void>();
    answer = async (_, { abortSignal }) => {
      abortSignal?.().addEventListener("abort", () => isCancelled.resolve());
      hasArrived.resolve();
      return new Promise(() => {});
    };
    const caller = new AbortController();
    const failed = post("/far/post", "{}", {}, caller.signal).catch(() => "aborted");
    await hasArrived.promise;
    caller.abort();
    await isCancelled.promise;
    expect(await failed).toBe("aborted");
  });

  it("fails alone if the other server closes the connection before it has read the body and ended the answer", async () => {
    const part = Promise.withResolvers<void>();
    web = async (_, response) => {
      response.writeHead(200).flushHeaders();
      await part.promise;
      response.destroy();
    };
    const headers = { "content-length": 1_000 };
    const request = httpRequest({ port: ports[0], path: "/far/page", method: "POST", headers });
    request.on("error", () => {}).write("part");
    const [reply] = (await once(request, "response")) as [IncomingMessage];
    reply.on("error", () => {}).resume();
    const closed = new Promise((resolve) => reply.once("close", resolve));
    part.resolve();
    await closed;
    expect([reply.statusCode, reply.complete]).toEqual([200, false]);
    expect((await fetch(`http://127.0.0.1:${ports[0]}/far/page`)).status).toBe(200);
  });

  it.each(["GET", "HEAD", "DELETE"])("is passed on without its body if it is a %s", async (method) => {
    let passedOn: unknown[] = [];
    web = (request, response) => {
      passedOn = [request.method, request.headers["content-length"], request.headers["transfer-encoding"]];
      response.end();
    };
    const headers = { "content-length": 4 };
    const request = httpRequest({ port: ports[0], path: "/far/page", method, headers });
    const [reply] = (await once(request.end("body"), "response")) as [IncomingMessage];
    reply.resume();
    expect([reply.statusCode, passedOn]).toEqual([200, [method, undefined, undefined]]);
  });

  it("is refused if the other server refuses it or does not listen", async () => {
    answer = async () => ({ status: 503, body: "", isRefused: true });
    await expect(post("/far/post", "{}")).rejects.toThrow("fetch failed");
    await new Promise((resolve) => servers[1]?.server.close(resolve).closeAllConnections());
    await expect(post("/far/post", "{}")).rejects.toThrow("fetch failed");
    expect(gone).toEqual([`http://127.0.0.1:${ports[1]}`]);
    isGone404 = true;
    const reply = await post("/far/post", "{}");
    expect([reply.status, await reply.json()]).toEqual([404, { gone: true }]);
  });
});

describe("a WebSocket that belongs to another server of the service", () => {
  const open = (path: string) =>
    new WebSocket(`ws://127.0.0.1:${ports[0]}${path}`, ["league.v2"], {
      perMessageDeflate: false,
      maxPayload: 1_000,
    } as const);

  it("is opened there and carries messages in both directions", async () => {
    const socket = open("/far/echo");
    const upgraded = once(socket, "upgrade");
    await once(socket, "open");
    const [{ headers }] = (await upgraded) as [IncomingMessage];
    expect(headers["sec-websocket-protocol"]).toBe("league.v2");
    socket.send("one");
    const [message] = await once(socket, "message");
    expect(String(message)).toBe("echo one");
    expect(received).toMatchObject([{ isPassedOn: true, remoteAddress: "127.0.0.1" }]);
    servers[1]?.close();
    const [code] = await once(socket, "close");
    expect(code).toBe(1001);
  });

  it("is closed with its connection to the other server", async () => {
    const socket = open("/far/echo");
    await once(socket, "open");
    servers[0]?.close();
    const [code] = await once(socket, "close");
    expect(code).toBe(1006);
  });

  it("is refused with the answer of the other server", async () => {
    const headers = {
      ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const request = httpRequest({ port: ports[0], path: "/far/secret", headers });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(401);
  });
});
