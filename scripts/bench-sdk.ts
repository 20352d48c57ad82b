import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/**
 * The MCP SDK's own server and client, each a process of its own: `server PORT stream|json` offers one tool that gives a move
 * back, `client URL IN_FLIGHT` calls it in one session and tells its count when asked.
 */
const [mode, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
if (mode === "server") serve(Number(args[0]), args[1] === "json");
else await call(args[0] ?? "", Number(args[1]));

function serve(port: number, enableJsonResponse: boolean): void {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = new McpServer({ name: "bench", version: "1.0.0" });
    const inputSchema = z.object({ match_id: z.string(), tick: z.int(), move: z.int().min(1).max(5) });
    server.registerTool("make_move", { description: "Gives the move back.", inputSchema }, async (move) => ({
      content: [{ type: "text", text: JSON.stringify(move) }],
    }));
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport);
    return transport;
  };
  createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const transport = (typeof id === "string" && sessions.get(id)) || (await open());
    await transport.handleRequest(request, response);
  }).listen(port, "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}/mcp` }));
}

async function call(url: string, inFlight: number): Promise<void> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  let count = 0;
  const loop = async (seat: number): Promise<never> => {
    for (let tick = 0; ; tick++) {
      const move = 1 + (tick % 5);
      const result = await client.callTool({ name: "make_move", arguments: { match_id: `M${seat}`, tick, move } });
      if (result.isError) throw new Error(JSON.stringify(result));
      count++;
    }
  };
  for (let seat = 0; seat < inFlight; seat++) void loop(seat);
  process.on("message", () => process.send?.(count));
  process.send?.({ type: "ready", url: "" });
}
