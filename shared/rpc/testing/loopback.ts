import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { rpcResponse, textResult } from "./json-rpc.ts";

/** Starts a server on loopback, by default on a port that the system chooses. Returns the port. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** A call of a tool, as an agent of a test receives it. */
export interface ToolCall {
  readonly args: unknown;
  readonly headers: IncomingHttpHeaders;
  /** The body of the request. */
  readonly body: string;
}

/** An HTTP server at which one function answers the calls of all tools. */
interface ToolServer {
  readonly url: string;
  close(): void;
}

/** Starts a server on loopback that answers each call of a tool with the value of `answer` as JSON text, and a GET request with an empty page. */
export async function serveTools(answer: (call: ToolCall) => unknown): Promise<ToolServer> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (body === "") return void response.end();
    const { id, params } = JSON.parse(body);
    const value = await answer({ args: params.arguments, headers: request.headers, body });
    response.setHeader("content-type", "application/json").end(JSON.stringify(rpcResponse(id, textResult(value))));
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  return { url, close: () => void server.close().closeAllConnections() };
}
