import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { close, open, type Sent, send } from "../testing/requests.ts";

const APP = "https://app.example";
/** Whether the last request of the handler came from a page of another site. */
let isCrossOrigin: boolean | undefined;

beforeAll(() =>
  open({
    handler: async (_, http) => {
      isCrossOrigin = http.isCrossOrigin;
      return { status: 200, body: '{"ok":true}' };
    },
    allowedOrigins: [APP, "http://127.0.0.1:3000"],
  }),
);
afterAll(close);

/** The status of an answer and its headers for browsers. */
async function answerTo(origin: string, sent: Sent = {}): Promise<[status: number, headers: Record<string, unknown>]> {
  const { status, headers } = await send("{}", { ...sent, headers: { origin, ...sent.headers } });
  const named = Object.entries(headers).filter(([name]) => name.startsWith("access-control") || name === "vary");
  return [status, Object.fromEntries(named)];
}
const preflight = { method: "OPTIONS", headers: { "access-control-request-method": "POST" } };
const allowed = (origin: string) => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": "Mcp-Session-Id",
  vary: "Origin",
});

describe("a page of an allowed origin", () => {
  it.each([APP, "http://127.0.0.1:3000"])("may call /mcp and read the answer: %s", async (origin) => {
    for (const path of ["/mcp", "/mcp/", "/mcp?a=b"]) {
      isCrossOrigin = undefined;
      expect(await answerTo(origin, { path })).toEqual([200, allowed(origin)]);
      expect(isCrossOrigin).toBe(true);
    }
    expect(await answerTo(origin, { headers: { "content-type": "text/plain" } })).toEqual([415, allowed(origin)]);
  });

  it("may send the methods and the headers of MCP, after a preflight request", async () => {
    const [status, headers] = await answerTo(APP, preflight);
    expect([status, headers]).toEqual([
      204,
      {
        ...allowed(APP),
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers":
          "Authorization, Content-Type, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID, Mcp-Method, Mcp-Name",
        "access-control-max-age": "600",
      },
    ]);
  });

  it.each(["/", "/api/games", "/health", "/inbox/P01", "/mcpx"])("may not call %s", async (path) => {
    for (const sent of [{ path }, { path, method: "GET" }, { ...preflight, path }])
      expect(await answerTo(APP, sent)).toEqual([403, {}]);
  });
});

describe("a page of any other origin", () => {
  it.each([
    "null",
    "",
    "https://app.example:8443",
    "http://app.example",
    "https://APP.example",
    "https://app.example/",
    "https://app.example.evil.example",
    "https://sub.app.example",
  ])("%j may not call /mcp", async (origin) => {
    for (const sent of [{}, { method: "GET" }, preflight]) expect(await answerTo(origin, sent)).toEqual([403, {}]);
    const { text } = await send("{}", { headers: { origin } });
    expect(text).toContain("allowed_origins (--allowed-origin)");
  });

  it("gets an error that names only allowed_hosts at other paths", async () => {
    const { text } = await send("{}", { path: "/api/games", headers: { origin: "https://other.example" } });
    expect(text).toContain("nor in allowed_hosts of the config");
  });
});

it("a page of the same host or of an allowed host, and a program, receive no headers for other sites", async () => {
  for (const headers of [
    { origin: "http://league.example" },
    { host: "127.0.0.1:1", origin: "http://127.0.0.1:1" },
    {},
  ]) {
    isCrossOrigin = undefined;
    const answer = await send("{}", { headers });
    expect([answer.status, answer.headers["access-control-allow-origin"], isCrossOrigin]).toEqual([
      200,
      undefined,
      undefined,
    ]);
  }
  const { status } = await send("", { ...preflight, headers: { origin: "http://league.example" } });
  expect(status).toBe(405);
});
