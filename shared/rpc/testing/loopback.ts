import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { loadWs } from "#shared/rpc/websocket/websocket.ts";
import { rpcResponse, textResult } from "./json-rpc.ts";

/**
 * Starts a server on loopback, by default on a port that the system chooses. Returns the port. A server that is closed
 * and starts again needs a port of `freePort`, because an outgoing connection could take a port that the system chose.
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** A call of a tool, as an agent of a test receives it. */
interface ToolCall {
  readonly args: unknown;
  readonly headers: IncomingHttpHeaders;
  /** The body of the request. */
  readonly body: string;
}

/** A server at which one function answers the calls of all tools, by POST and over WebSockets. */
interface ToolServer {
  readonly url: string;
  close(): void;
}

/** Starts a server on loopback that answers each call of a tool with the value of `answer` as JSON text, and a GET request with an empty page. */
export async function serveTools(answer: (call: ToolCall) => unknown): Promise<ToolServer> {
  const reply = async (headers: IncomingHttpHeaders, body: string): Promise<string> => {
    const { id, params } = JSON.parse(body);
    return JSON.stringify(rpcResponse(id, textResult(await answer({ args: params.arguments, headers, body }))));
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    if (body === "") return void response.end();
    response.setHeader("content-type", "application/json").end(await reply(request.headers, body));
  });
  const { WebSocketServer } = loadWs();
  const limits = { perMessageDeflate: false, maxPayload: 1_000_000, noServer: true, clientTracking: false } as const;
  const webSockets = new WebSocketServer({ ...limits, handleProtocols: () => false as const });
  server.on("upgrade", (request, connection, head) =>
    webSockets.handleUpgrade(request, connection, head, (webSocket) => {
      closeFunctions.push(() => webSocket.terminate());
      webSocket.on("message", async (data: Buffer) => webSocket.send(await reply(request.headers, data.toString())));
    }),
  );
  const closeFunctions = [() => server.close().closeAllConnections()];
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  return {
    url,
    close() {
      for (const close of closeFunctions) close();
    },
  };
}
