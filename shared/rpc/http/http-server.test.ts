import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { type EndpointOptions, httpEndpoint } from "./http-server.ts";

const LIMIT_BYTES = 256 * 1024;
const REFEREE_LIMIT_BYTES = 1024 * 1024;

/** The calls that reached the handler: the size of each body and the context of its caller. */
const handlerCalls: [sizeBytes: number, http: HttpContext][] = [];
let webLoads = 0;

const options: EndpointOptions = {
  handler: async (body, http) => {
    handlerCalls.push([Buffer.byteLength(body), http]);
    return { status: 200, body: '{"ok":true}' };
  },
  web: async () => {
    webLoads += 1;
    return (request, response) => void response.end(`page ${request.url}`);
  },
  bodyLimit: ({ bearer }) => (bearer === "referee" ? REFEREE_LIMIT_BYTES : LIMIT_BYTES),
  allowedHosts: ["league.example", "fd00::5"],
};

let server: Server;
let port = 0;

/** Opens a server on a free port and resolves with the port. */
const portOf = async (listening: Server): Promise<number> => {
  return listenOnLoopback(listening);
};
beforeAll(async () => {
  server = httpEndpoint(options);
  port = await portOf(server);
});
beforeEach(() => {
  handlerCalls.length = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}
interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
}

const JSON_BODY = { "content-type": "application/json" };

async function send(
  body: string | readonly string[],
  { method = "POST", path = "/mcp", headers = {} }: Sent = {},
): Promise<Reply> {
  const all = { ...JSON_BODY, ...headers };
  const request = httpRequest({ host: "127.0.0.1", port, method, path, agent: false, headers: all });
  const answered = once(request, "response");
  request.on("error", () => {}); // an early answer closes the connection while the body is sent; without an answer, `answered` rejects
  if (typeof body === "string") request.end(body);
  else {
    for (const chunk of body) request.write(chunk);
    request.end();
  }
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") };
}

describe("the endpoint (PROTOCOL.md, section 3)", () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const statusOf = async (headers: OutgoingHttpHeaders, sent: Sent = {}) =>
    (await send(body, { ...sent, headers })).status;

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", ""])(
    "rejects the content type %j with 415",
    async (type) => {
      expect(await statusOf({ "content-type": type })).toBe(415);
    },
  );

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=utf-8",
  ])("accepts the content type %j", async (type) => {
    expect(await statusOf({ "content-type": type })).toBe(200);
  });

  test.each(["GET", "PUT", "DELETE", "OPTIONS"])("rejects %s with 405 and an Allow header", async (method) => {
    const reply = await send("", { method });
    expect([reply.status, reply.headers.allow]).toEqual([405, "POST"]);
  });

  const padded = (bytes: number) => body.padEnd(bytes, " ");
  const halves = (bytes: number) => [padded(bytes - 1_000), " ".repeat(1_000)];

  test.each([
    ["content-length", padded],
    ["chunks", halves],
  ] as const)("accepts a body of the limit with %s and rejects a larger one with 413", async (_, make) => {
    expect((await send(make(LIMIT_BYTES))).status).toBe(200);
    expect(handlerCalls.map(([bytes]) => bytes)).toEqual([LIMIT_BYTES]);
    const rejected = await send(make(LIMIT_BYTES + 1), { headers: { connection: "keep-alive" } });
    expect([rejected.status, rejected.headers.connection, handlerCalls.length]).toEqual([413, "close", 1]);
  });

  test("rejects a body with a Content-Length above the limit before it arrives", async () => {
    const headers = { ...JSON_BODY, "content-length": LIMIT_BYTES + 1 };
    const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/mcp", agent: false, headers });
    request.on("error", () => {}).flushHeaders();
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  test("has a body limit for each caller", async () => {
    const headers = { authorization: "Bearer referee" };
    expect((await send(padded(REFEREE_LIMIT_BYTES), { headers })).status).toBe(200);
    expect((await send(padded(REFEREE_LIMIT_BYTES + 1), { headers })).status).toBe(413);
  });

  test("answers a body far above the limit with 413 without reading it to its end", async () => {
    expect((await send(padded(8 * REFEREE_LIMIT_BYTES))).status).toBe(413);
  });

  test("ignores a body whose connection breaks, and answers later requests", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.end(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"jsonrpc"`,
    );
    socket.resume();
    await once(socket, "close");
    expect(handlerCalls).toEqual([]);
    expect(await statusOf({})).toBe(200);
  });

  test("passes a body of many chunks to the handler with all characters intact", async () => {
    const bytes = Buffer.from(JSON.stringify("é☃😀".repeat(50)));
    const request = httpRequest({
      host: "127.0.0.1",
      port,
      method: "POST",
      path: "/mcp",
      agent: false,
      headers: JSON_BODY,
    });
    const answered = once(request, "response");
    for (const byte of bytes) request.write(Buffer.from([byte]));
    request.end();
    (await answered)[0].resume();
    expect(handlerCalls.map(([length]) => length)).toEqual([bytes.length]);
  });

  test("passes the bearer token and the address of the caller to the handler, and ignores other schemes", async () => {
    const authorizations = ["Bearer abc.DEF-_", "bearer abc", "BEARER  abc ", "Basic abc", "Bearer", "Bearer a b"];
    for (const authorization of authorizations) await statusOf({ authorization });
    await statusOf({});
    expect(handlerCalls.map(([, http]) => http.bearer)).toEqual(["abc.DEF-_", "abc", "abc", null, null, "a b", null]);
    expect(handlerCalls.map(([, http]) => http.remoteAddress)).toEqual(Array(7).fill("127.0.0.1"));
  });

  test("rejects requests with a JSON-RPC error", async () => {
    const { status, headers, text } = await send("", { headers: { "content-type": "text/plain" } });
    expect([status, headers["content-type"]]).toEqual([415, "application/json"]);
    expect(JSON.parse(text)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: expect.any(String) },
    });
  });

  test("passes all other paths to the web handler, which is loaded once", async () => {
    const paths = ["/", "/mcp//", "/mcp/x", "/mcpx", "/health?a=/mcp"];
    const pages = await Promise.all(paths.map((path) => send("", { method: "GET", path })));
    expect(pages.map((page) => page.text)).toEqual(paths.map((path) => `page ${path}`));
    expect(webLoads).toBe(1);
    for (const path of ["/mcp?x=1", "/mcp/", "/mcp/?x=1"])
      expect((await send(body, { path })).text).toBe('{"ok":true}');
  });

  test("accepts an absolute URL as the request target, as from a proxy", async () => {
    const targets = ["http://127.0.0.1/mcp", "HTTP://league.example:80/mcp?x=/", "https://a/mcp"];
    const replies = await Promise.all(targets.map((path) => send(body, { path })));
    expect(replies.map(({ text }) => text)).toEqual(Array(3).fill('{"ok":true}'));
    expect((await send(body, { path: "http://127.0.0.1?/mcp" })).text).toBe("page http://127.0.0.1?/mcp");
  });

  test("answers pages that cannot be loaded with 500 and loads them again, and answers /mcp and the probes meanwhile", async () => {
    let loads = 0;
    let why: string | null = null;
    const web = () => (++loads > 1 && options.web()) || Promise.reject(new Error("secret"));
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const readiness = { isReady: () => loads > 0, whyNotReady: () => why };
    const failingServer = httpEndpoint({ ...options, web, onError, ...readiness });
    const url = `http://127.0.0.1:${await portOf(failingServer)}`;
    const probe = async (path: string, method = "GET"): Promise<unknown> => {
      const answer = await fetch(`${url}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    expect(await probe("/ready")).toEqual([503, '{"status":"starting"}']);
    why = "the database does not answer";
    expect(await probe("/ready")).toEqual([503, '{"status":"the database does not answer"}']);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([500, expect.not.stringContaining("secret")]);
    expect(errors).toEqual([new Error("secret")]);
    expect(await probe("/ready?x")).toEqual([200, '{"status":"ready"}']);
    expect(await probe("/health")).toEqual([200, '{"status":"ok"}']);
    expect(await probe("/Health/")).toEqual([200, '{"status":"ok"}']);
    const absolute = httpRequest({
      ...new URL(url),
      port: new URL(url).port,
      path: `${url}/health`,
      agent: false,
    }).end();
    const [answer] = await once(absolute, "response");
    expect(answer.resume().statusCode).toBe(200);
    expect(await probe("/health", "HEAD")).toEqual([200, ""]);
    expect([await probe("/"), await probe("/health", "POST")]).toEqual(
      ["/", "/health"].map((path) => [200, `page ${path}`]),
    );
    expect((await fetch(`${url}/mcp`, { method: "POST", headers: JSON_BODY, body })).status).toBe(200);
    failingServer.closeAllConnections();
    await new Promise((resolve) => failingServer.close(resolve));
  });
});
