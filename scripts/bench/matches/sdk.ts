import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { evenOdd } from "#shared/games/even-odd.ts";
import { ROUNDS } from "./manager.ts";

/**
 * The MCP SDK's own server and client, each a process of its own: `server PORT stream|json` offers one tool that is shown a view and
 * gives a move, `client URL IN_FLIGHT` calls it in one session, with the view of a match of ours that is half over, and tells its
 * count when asked.
 */
const [mode, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
if (mode === "server") serve(Number(args[0]), args[1] === "json");
else await call(args[0] ?? "", Number(args[1]));

function serve(port: number, enableJsonResponse: boolean): void {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const server = new McpServer({ name: "bench", version: "1.0.0" });
    const inputSchema = z.object({ match_id: z.string(), tick: z.int(), game_state: z.unknown() });
    server.registerTool("choose", { description: "Gives a move.", inputSchema }, async ({ match_id, tick }) => ({
      content: [{ type: "text", text: JSON.stringify({ match_id, tick, move: 1 + (tick % 5) }) }],
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

/** The view of one role in the middle of a match. */
function halfOver(): object {
  const options = evenOdd.options.parse({ rounds_to_win: ROUNDS, max_rounds: ROUNDS });
  let state = evenOdd.initialState({ options, seed: "" });
  for (let tick = 0; tick < ROUNDS; tick++) {
    const next = evenOdd.applyAction(state, evenOdd.roles[tick % 2] ?? "", 1 + (tick % 5));
    if (next.ok) state = next.value;
  }
  return evenOdd.viewState(state, "ODD");
}

async function call(url: string, inFlight: number): Promise<void> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const game_state = halfOver();
  let count = 0;
  const loop = async (seat: number): Promise<never> => {
    for (let tick = 0; ; tick++) {
      const asked = { match_id: `M${seat}`, tick, game_state };
      const result = await client.callTool({ name: "choose", arguments: asked });
      if (result.isError) throw new Error(JSON.stringify(result));
      count++;
    }
  };
  for (let seat = 0; seat < inFlight; seat++) void loop(seat);
  process.on("message", () => process.send?.(count));
  process.send?.({ type: "ready", url: "" });
}
