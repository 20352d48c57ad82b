import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { GameState, GetGameState } from "../../../referee/operations/game-state.ts";

/**
 * The MCP SDK's own server as its documentation has it, a process of its own: `PORT STATE` offers `get_game_state` with the
 * referee's schemas, which always answers with STATE, at `/mcp` without sessions and at `/session` with them.
 */
const [port, state = "{}"] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const structuredContent = GameState.parse(JSON.parse(state));

function build(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const about = { description: "The state of a match.", inputSchema: GetGameState, outputSchema: GameState };
  server.registerTool("get_game_state", about, async () => ({
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  }));
  return server;
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
async function begin(): Promise<NodeStreamableHTTPServerTransport> {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await build().connect(transport);
  return transport;
}

async function inSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers["mcp-session-id"];
  const transport = (typeof id === "string" && sessions.get(id)) || (await begin());
  await transport.handleRequest(request, response);
}

const stateless = toNodeHandler(createMcpHandler(build));
const server = createServer((request, response) => {
  if (request.url === "/session") void inSession(request, response);
  else void stateless(Object.assign(request, { method: request.method ?? "", url: request.url ?? "" }), response);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}` }));
