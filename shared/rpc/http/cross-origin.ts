import type { IncomingMessage, ServerResponse } from "node:http";
import { setCrossOrigin } from "./request.ts";

/**
 * The headers that pages of other sites may send, by name, because `*` does not include Authorization. Those of MCP are of the revisions up to
 * 2025-11-25 (Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID) and of 2026-07-28 (MCP-Protocol-Version, Mcp-Method, Mcp-Name). No tool
 * declares a header `Mcp-Param-…`.
 */
const REQUEST_HEADERS = [
  ...["Authorization", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID"],
  ...["Mcp-Method", "Mcp-Name"],
].join(", ");
/** The time for which a browser remembers the answer to a preflight request. */
const MAX_AGE_S = 600;

/** Lets the page of another site read the answer to its request (CORS). The browser sends no cookies, and there are none. */
export function allowCrossOrigin(request: IncomingMessage, response: ServerResponse, origin: string): void {
  setCrossOrigin(request, origin);
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", "Mcp-Session-Id");
  response.setHeader("vary", "Origin");
}

/** Answers the request by which a browser asks whether a page may send another one. `allowCrossOrigin` has allowed the origin. */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": REQUEST_HEADERS,
    "access-control-max-age": String(MAX_AGE_S),
  });
  response.end();
}
