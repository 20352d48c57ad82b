import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HttpContext } from "../jsonrpc/http.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { type EndpointOptions, httpEndpoint } from "./endpoint.ts";

const LIMIT = 256 * 1024;
const LONG = 1024 * 1024;

/** The calls that reached the handler: the length of each body, and the facts about its caller. */
const taken: [bytes: number, http: HttpContext][] = [];
let webLoads = 0;

const options: EndpointOptions = {
  handler: async (body, http) => {
    taken.push([Buffer.byteLength(body), http]);
    return { status: 200, body: '{"ok":true}' };
  },
  web: async () => {
    webLoads += 1;
    return (request, response) => void response.end(`page ${request.url}`);
  },
  bodyLimit: ({ bearer }) => (bearer === "referee" ? LONG : LIMIT),
  allowedHosts: ["league.example", "fd00::5"],
};

let server: Server;
let port = 0;

/** Opens a server on a port of the system's choice. */
const portOf = async (listening: Server): Promise<number> => {
  return listenOnLoopback(listening);
};
beforeAll(async () => {
  server = httpEndpoint(options);
  port = await portOf(server);
});
beforeEach(() => {
  taken.length = 0;
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
  request.on("error", () => {}); // after an early answer the rest of a body finds a closed connection; before it, `answered` rejects
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

describe("the endpoint (PROTOCOL.md, section 3: body limit, Host and Origin, JSON content type)", () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const statusOf = async (headers: OutgoingHttpHeaders, sent: Sent = {}) =>
    (await send(body, { ...sent, headers })).status;

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", ""])(
    "content type %j: 415",
    async (type) => {
      expect(await statusOf({ "content-type": type })).toBe(415);
    },
  );

  test.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=utf-8",
  ])("content type %j is taken", async (type) => {
    expect(await statusOf({ "content-type": type })).toBe(200);
  });

  test.each(["GET", "PUT", "DELETE", "OPTIONS"])("%s: 405, and what is allowed", async (method) => {
    const reply = await send("", { method });
    expect([reply.status, reply.headers.allow]).toEqual([405, "POST"]);
  });

  const padded = (bytes: number) => body.padEnd(bytes, " ");
  const halves = (bytes: number) => [padded(bytes - 1_000), " ".repeat(1_000)];

  test.each([
    ["content-length", padded],
    ["chunks", halves],
  ] as const)("a body by %s: the limit is taken, a byte more is 413", async (_, make) => {
    expect((await send(make(LIMIT))).status).toBe(200);
    expect(taken.map(([bytes]) => bytes)).toEqual([LIMIT]);
    const refused = await send(make(LIMIT + 1), { headers: { connection: "keep-alive" } });
    expect([refused.status, refused.headers.connection, taken.length]).toEqual([413, "close", 1]);
  });

  test("a body is refused by the length it declares, before it comes", async () => {
    const headers = { ...JSON_BODY, "content-length": LIMIT + 1 };
    const request = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/mcp", agent: false, headers });
    request.on("error", () => {}).flushHeaders();
    const [response] = await once(request, "response");
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  test("the limit is the caller's own", async () => {
    const headers = { authorization: "Bearer referee" };
    expect((await send(padded(LONG), { headers })).status).toBe(200);
    expect((await send(padded(LONG + 1), { headers })).status).toBe(413);
  });

  test("a far too large body is told so, though it is not read to its end", async () => {
    expect((await send(padded(8 * LONG))).status).toBe(413);
  });

  test("a connection lost in the middle of a body harms nobody", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.end(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"jsonrpc"`,
    );
    socket.resume();
    await once(socket, "close");
    expect(taken).toEqual([]);
    expect(await statusOf({})).toBe(200);
  });

  test("a body in many chunks reaches the handler whole, without broken characters", async () => {
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
    expect(taken.map(([length]) => length)).toEqual([bytes.length]);
  });

  test("a caller is known by its bearer token and its address; other schemes give none", async () => {
    const given = ["Bearer abc.DEF-_", "bearer abc", "BEARER  abc ", "Basic abc", "Bearer", "Bearer a b"];
    for (const authorization of given) await statusOf({ authorization });
    await statusOf({});
    expect(taken.map(([, http]) => http.bearer)).toEqual(["abc.DEF-_", "abc", "abc", null, null, "a b", null]);
    expect(taken.map(([, http]) => http.remoteAddress)).toEqual(Array(7).fill("127.0.0.1"));
  });

  test("a rejection is JSON-RPC too", async () => {
    const { status, headers, text } = await send("", { headers: { "content-type": "text/plain" } });
    expect([status, headers["content-type"]]).toEqual([415, "application/json"]);
    expect(JSON.parse(text)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: expect.any(String) },
    });
  });

  test("every other path is the web's, loaded once, when first asked for", async () => {
    const paths = ["/", "/mcp/", "/mcpx", "/health?a=/mcp"];
    const pages = await Promise.all(paths.map((path) => send("", { method: "GET", path })));
    expect(pages.map((page) => page.text)).toEqual(paths.map((path) => `page ${path}`));
    expect(webLoads).toBe(1);
    expect((await send(body, { path: "/mcp?x=1" })).text).toBe('{"ok":true}');
  });

  test("a path is found in a target that is sent whole, as to a proxy", async () => {
    const whole = ["http://127.0.0.1/mcp", "HTTP://league.example:80/mcp?x=/", "https://a/mcp"];
    const replies = await Promise.all(whole.map((path) => send(body, { path })));
    expect(replies.map(({ text }) => text)).toEqual(Array(3).fill('{"ok":true}'));
    expect((await send(body, { path: "http://127.0.0.1?/mcp" })).text).toBe("page http://127.0.0.1?/mcp");
  });

  test("pages that cannot be loaded are a 500 and tried again, and /mcp and the probes go on", async () => {
    let loads = 0;
    const web = () => (++loads > 1 && options.web()) || Promise.reject(new Error("secret"));
    const broken = httpEndpoint({ ...options, web, isReady: () => loads > 0 });
    const url = `http://127.0.0.1:${await portOf(broken)}`;
    const probe = async (path: string, method = "GET"): Promise<unknown> => {
      const answer = await fetch(`${url}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    expect(await probe("/ready")).toEqual([503, '{"status":"starting"}']);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([500, expect.not.stringContaining("secret")]);
    expect(await probe("/ready?x")).toEqual([200, '{"status":"ready"}']);
    expect(await probe("/health")).toEqual([200, '{"status":"ok"}']);
    expect(await probe("/Health/")).toEqual([200, '{"status":"ok"}']);
    const whole = httpRequest({ ...new URL(url), port: new URL(url).port, path: `${url}/health`, agent: false }).end();
    const [answer] = await once(whole, "response");
    expect(answer.resume().statusCode).toBe(200);
    expect(await probe("/health", "HEAD")).toEqual([200, ""]);
    expect([await probe("/"), await probe("/health", "POST")]).toEqual(
      ["/", "/health"].map((path) => [200, `page ${path}`]),
    );
    expect((await fetch(`${url}/mcp`, { method: "POST", headers: JSON_BODY, body })).status).toBe(200);
    broken.closeAllConnections();
    await new Promise((resolve) => broken.close(resolve));
  });
});
