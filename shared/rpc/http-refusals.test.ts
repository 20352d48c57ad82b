import { once } from "node:events";
import { request as httpRequest, type OutgoingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type EndpointOptions, httpEndpoint } from "./http-endpoint.ts";

const LIMIT = 64 * 1024;
const options: EndpointOptions = {
  door: async () => ({ status: 200, body: '{"ok":true}' }),
  web: async () => (request, response) => void response.end(`page ${request.url}`),
  bodyLimit: () => LIMIT,
  allowedHosts: ["league.example", "fd00::5"],
};

const servers: Server[] = [];
let port = 0;

/** Opens another endpoint, which is called from then on. */
async function open(more: Partial<EndpointOptions> = {}): Promise<void> {
  const server = httpEndpoint({ ...options, ...more });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = (server.address() as AddressInfo).port;
}

function close(): void {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
}

async function send(body: string, { method = "POST", path = "/mcp", headers = {} }: Sent = {}) {
  const all = { "content-type": "application/json", ...headers };
  const request = httpRequest({ host: "127.0.0.1", port, method, path, agent: false, headers: all });
  const answered = once(request, "response");
  request.on("error", () => {}); // after an early answer the rest of a body finds a closed connection
  request.end(body);
  const [response] = await answered;
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

afterEach(close);

test("a browser loads a page that was refused for its rate again when it may, and no other request", async () => {
  await open({ gate: async () => ({ refusal: { status: 429, body: "{}" }, headers: { "retry-after": "9" } }) });
  expect((await send("", { method: "GET", path: "/" })).headers.refresh).toBe("9");
  expect((await send("{}", { path: "/api/games" })).headers.refresh).toBeUndefined();
});

test("what is refused is logged with its code and reason, and what fails here as our error", async () => {
  const refused: unknown[] = [];
  const errors: unknown[] = [];
  await open({
    gate: async (_, { bearer }) =>
      bearer === "limited" ? { refusal: { status: 429, body: "{}" }, headers: { "retry-after": "9" } } : null,
    sessions: () => Promise.reject(new Error("sessions could not be loaded")),
    refusals: { refused: (from, { code, request }) => refused.push([from, code, request]) },
    onError: (error) => errors.push(error),
  });
  await send("{}", { headers: { host: "evil.example" } });
  await send("{}", { headers: { "content-type": "text/plain" } });
  await send("", { method: "PUT" });
  await send(" ".repeat(LIMIT + 1));
  await send("{}", { headers: { authorization: "Bearer limited" } });
  const page = await send("", { method: "GET", path: "/x?token=1", headers: { authorization: "Bearer limited" } });
  expect([page.status, JSON.parse(page.text).error.code]).toEqual([429, "TOO_MANY_REQUESTS"]);
  expect(page.headers["retry-after"]).toBe("9");
  expect(refused).toEqual([
    ["127.0.0.1", 403, "POST /mcp"],
    ["127.0.0.1", 415, "POST /mcp"],
    ["127.0.0.1", 405, "PUT /mcp"],
    ["127.0.0.1", 413, "POST /mcp"],
    ["127.0.0.1", 429, "POST /mcp"],
    ["127.0.0.1", 429, "GET /x"],
  ]);
  const both = { accept: "application/json, text/event-stream" };
  expect((await send("{}", { headers: both })).status).toBe(500);
  expect(errors).toEqual([new Error("sessions could not be loaded")]);
});
