import { once } from "node:events";
import { request as httpRequest, type OutgoingHttpHeaders, type Server } from "node:http";
import { type EndpointOptions, httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { listenOnLoopback } from "./loopback.ts";

export const BODY_LIMIT = 64 * 1024;

/** An endpoint that accepts bodies up to 64 kB and answers `{"ok":true}`. */
const options: EndpointOptions = {
  handler: async () => ({ status: 200, body: '{"ok":true}' }),
  web: async () => (request, response) => void response.end(`page ${request.url}`),
  bodyLimit: () => BODY_LIMIT,
  allowedHosts: ["league.example", "fd00::5"],
};
const servers: Server[] = [];
export let port = 0;

/** Opens another endpoint, which `send` calls from then on. */
export async function open(more: Partial<EndpointOptions> = {}): Promise<void> {
  const server = httpEndpoint({ ...options, ...more });
  servers.push(server);
  port = await listenOnLoopback(server);
}

export function close(): void {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export async function send(body: string, { method = "POST", path = "/mcp", headers = {} }: Sent = {}) {
  const all = { "content-type": "application/json", ...headers };
  const request = httpRequest({ host: "127.0.0.1", port, method, path, agent: false, headers: all });
  const answered = once(request, "response");
  request.on("error", () => {}); // after an early answer the connection may close before the body is sent
  request.end(body);
  const [response] = await answered;
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}
