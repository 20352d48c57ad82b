import type { Pool } from "undici";
import { rpcNotification, rpcRequest } from "#shared/rpc/testing/json-rpc.ts";

/** A request to an MCP server. It is serialized once and sent many times, so that the client uses little processor time. */
export interface McpRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const KEY = "io.modelcontextprotocol";
const CLIENT_INFO = { name: "bench", version: "1.0.0" };
const JSON_TYPE = { "content-type": "application/json" };
/** The headers that every MCP client sends. */
const CLIENT_HEADERS = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
/** The protocol revision with sessions. */
const SESSION_REVISION = "2025-11-25";
/** The protocol revision without sessions. */
const STATELESS_REVISION = "2026-07-28";

const messageOf = (method: string, params: object): string => JSON.stringify(rpcRequest(method, params));

/** Creates a tool call in plain JSON without a session, as agents of a league send it. */
export const plainCall = (path: string, name: string, args: object): McpRequest => ({
  path,
  headers: JSON_TYPE,
  body: messageOf("tools/call", { name, arguments: args }),
});

/** Creates a tool call of revision 2026-07-28, which needs no session. */
export const statelessCall = (path: string, name: string, args: object): McpRequest => ({
  path,
  headers: {
    ...CLIENT_HEADERS,
    "mcp-protocol-version": STATELESS_REVISION,
    "mcp-method": "tools/call",
    "mcp-name": name,
  },
  body: messageOf("tools/call", {
    name,
    arguments: args,
    _meta: {
      [`${KEY}/protocolVersion`]: STATELESS_REVISION,
      [`${KEY}/clientInfo`]: CLIENT_INFO,
      [`${KEY}/clientCapabilities`]: {},
    },
  }),
});

/** Creates the request that opens a session. The answer has the id of the session in a header. */
export const initialize = (path: string): McpRequest => ({
  path,
  headers: CLIENT_HEADERS,
  body: messageOf("initialize", { protocolVersion: SESSION_REVISION, capabilities: {}, clientInfo: CLIENT_INFO }),
});

const sessionHeaders = (session: string) => ({
  ...CLIENT_HEADERS,
  "mcp-session-id": session,
  "mcp-protocol-version": SESSION_REVISION,
});

/** Creates the notification that follows the answer to `initialize`. */
export const initialized = (path: string, session: string): McpRequest => ({
  path,
  headers: sessionHeaders(session),
  body: JSON.stringify(rpcNotification("notifications/initialized")),
});

/** Creates a tool call of a session. */
export const sessionCall = (path: string, session: string, name: string, args: object): McpRequest => ({
  path,
  headers: sessionHeaders(session),
  body: messageOf("tools/call", { name, arguments: args }),
});

/** Opens the event stream of a session, which stays open. Resolves when the headers have arrived; rejects if the status is not 200. */
export function listen(pool: Pool, path: string, session: string): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path, method: "GET", headers: sessionHeaders(session) },
      {
        onRequestStart() {},
        onResponseStart: (_controller, status) =>
          status === 200 ? resolve() : reject(new Error(`GET ${path}: ${status}`)),
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: (_controller, error) => reject(error), // has no effect after the stream is open
      },
    );
  });
}

interface McpAnswer {
  /** The id of the session; empty without one. */
  readonly session: string;
  readonly text: string;
}

/** Posts a request. Rejects if the status is 300 or higher, so that failures are never counted as calls. */
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
