import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { GameState, GetGameState } from "../../../referee/operations.ts";

/**
 * A server of the MCP SDK, written as in the SDK's documentation, in a separate process: `PORT STATE`. Its tool `get_game_state` has the schemas of the
 * referee and always answers with STATE. `/mcp` is without sessions, `/session` with sessions.
 */
const [port, state = "{}"] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const structuredContent = GameState.parse(JSON.parse(state));

function createServerOfSdk(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const config = { description: "The state of a match.", inputSchema: GetGameState, outputSchema: GameState };
  server.registerTool("get_game_state", config, async () => ({
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  }));
  return server;
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await createServerOfSdk().connect(transport);
  return transport;
}

async function handleInSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers["mcp-session-id"];
  const transport = (typeof id === "string" && sessions.get(id)) || (await openSession());
  await transport.handleRequest(request, response);
}

const stateless = toNodeHandler(createMcpHandler(createServerOfSdk));
const server = createServer((request, response) => {
  if (request.url === "/session") void handleInSession(request, response);
  else void stateless(Object.assign(request, { method: request.method ?? "", url: request.url ?? "" }), response);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}` }));
