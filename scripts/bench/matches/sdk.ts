import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { evenOdd } from "#shared/games/even-odd.ts";
import { ROUNDS } from "./manager.ts";

/**
 * A server or a client of the MCP SDK in a separate process. `server PORT stream|json` has one tool, which receives a view and returns a move.
 * `client URL IN_FLIGHT` calls this tool in one session with the view of a match that is half over, and answers each IPC message with the number of
 * calls.
 */
const [mode, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
if (mode === "server") serve(Number(args[0]), args[1] === "json");
else await callTool(args[0] ?? "", Number(args[1]));

function serve(port: number, enableJsonResponse: boolean): void {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
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
    const transport = (typeof id === "string" && sessions.get(id)) || (await openSession());
    await transport.handleRequest(request, response);
  }).listen(port, "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}/mcp` }));
}

/** Returns the view of one role in the middle of a match. */
function midMatchView(): object {
  const options = evenOdd.options.parse({ rounds_to_win: ROUNDS, max_rounds: ROUNDS });
  let state = evenOdd.initialState({ options, seed: "" });
  for (let tick = 0; tick < ROUNDS; tick++) {
    const next = evenOdd.applyAction(state, evenOdd.roles[tick % 2] ?? "", 1 + (tick % 5));
    if (next.ok) state = next.value;
  }
  return evenOdd.viewState(state, "ODD");
}

async function callTool(url: string, inFlight: number): Promise<void> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const game_state = midMatchView();
  let count = 0;
  const callForever = async (number: number): Promise<never> => {
    for (let tick = 0; ; tick++) {
      const view = { match_id: `M${number}`, tick, game_state };
      const result = await client.callTool({ name: "choose", arguments: view });
      if (result.isError) throw new Error(JSON.stringify(result));
      count++;
    }
  };
  for (let number = 0; number < inFlight; number++) void callForever(number);
  process.on("message", () => process.send?.(count));
  process.send?.({ type: "ready", url: "" });
}
