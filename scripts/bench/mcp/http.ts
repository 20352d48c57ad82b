import type { Pool } from "undici";

/** Requests to an MCP server, made once and sent often: the bare minimum of a client, so that the server is what is measured. */
export interface McpRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const KEY = "io.modelcontextprotocol";
const ABOUT = { name: "bench", version: "1.0.0" };
const JSON_TYPE = { "content-type": "application/json" };
/** As every MCP client accepts. */
const OF_CLIENT = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
const SESSIONS = "2025-11-25";
const STATELESS = "2026-07-28";

const messageOf = (method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

/** A tool call in plain JSON, as leagues and curl send it. */
export const plainCall = (path: string, name: string, args: object): McpRequest => ({
  path,
  headers: JSON_TYPE,
  body: messageOf("tools/call", { name, arguments: args }),
});

/** A tool call of revision 2026-07-28, complete in itself. */
export const statelessCall = (path: string, name: string, args: object): McpRequest => ({
  path,
  headers: { ...OF_CLIENT, "mcp-protocol-version": STATELESS, "mcp-method": "tools/call", "mcp-name": name },
  body: messageOf("tools/call", {
    name,
    arguments: args,
    _meta: {
      [`${KEY}/protocolVersion`]: STATELESS,
      [`${KEY}/clientInfo`]: ABOUT,
      [`${KEY}/clientCapabilities`]: {},
    },
  }),
});

/** How a session begins; its id comes back in a header. */
export const initialize = (path: string): McpRequest => ({
  path,
  headers: OF_CLIENT,
  body: messageOf("initialize", { protocolVersion: SESSIONS, capabilities: {}, clientInfo: ABOUT }),
});

const ofSession = (session: string) => ({
  ...OF_CLIENT,
  "mcp-session-id": session,
  "mcp-protocol-version": SESSIONS,
});

export const initialized = (path: string, session: string): McpRequest => ({
  path,
  headers: ofSession(session),
  body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
});

export const sessionCall = (path: string, session: string, name: string, args: object): McpRequest => ({
  path,
  headers: ofSession(session),
  body: messageOf("tools/call", { name, arguments: args }),
});

/** Opens the stream of a session, which stays open; resolves with the headers. */
export function listen(pool: Pool, path: string, session: string): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path, method: "GET", headers: ofSession(session) },
      {
        onRequestStart() {},
        onResponseStart: (_controller, status) =>
          status === 200 ? resolve() : reject(new Error(`GET ${path}: ${status}`)),
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error), // of no effect once it is open
      },
    );
  });
}

interface McpAnswer {
  readonly session: string;
  readonly text: string;
}

/** Posts a request; throws unless it is a success: a figure with failures in it would be none. */
export function post(pool: Pool, { path, headers, body }: McpRequest): Promise<McpAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let session = "";
    pool.dispatch(
      { path, method: "POST", headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode, headers) {
          status = statusCode;
          session = String(headers["mcp-session-id"] ?? "");
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          const text = (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString();
          if (status < 300) resolve({ session, text });
          else reject(new Error(`POST ${path}: ${status} ${text}`));
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}
