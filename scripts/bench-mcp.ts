import { freePorts } from "#shared/runtime/free-ports.ts";
import { type LeagueUnderLoad, startLeague } from "./bench-league.ts";
import { plainCall } from "./bench-mcp-http.ts";
import { launch, type Measured, measure, type Rate, sleep } from "./bench-process.ts";

export interface McpPace {
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Arguments of Node for the referee. */
  readonly nodeArgs?: readonly string[];
}

/** Calls of `get_game_state` a second: at a referee, and at the MCP SDK's own server that has the same state in memory. */
export interface McpRates {
  readonly stateless: Rate;
  readonly plain: Rate;
  readonly sdkStateless: Rate;
  readonly sdkSession: Rate;
  /** Bytes of the state. */
  readonly stateBytes: number;
}

export const MCP = { clients: 2, inFlightEach: 16 } as const;

/** So many matches are played first; they are cut to lengths from one round on, and the second one has six. */
const MATCHES = 10;
const MATCH = "M1";

/** Both servers run all the time and are asked in turn, by the same clients with the same requests. */
export async function mcpRates(pace: McpPace, tell: (what: string) => void): Promise<McpRates> {
  const nodeArgs = { referee: pace.nodeArgs ?? [] };
  const league = await startLeague({ inFlight: 1, players: "pair", nodeArgs });
  const url = league.referee.urls[0] ?? "";
  const state = await playedMatch(league, url);
  const [port = 0] = await freePorts(1);
  const sdk = await launch("scripts/bench-mcp-sdk.ts", [String(port), state]);
  const rate = (kind: "plain" | "stateless" | "session", server: Measured, path: string) => {
    tell(`MCP ${kind} calls, ${server === sdk ? "the SDK's own server" : "a referee"}`);
    return callRate(pace, kind, server, path);
  };
  const stateless = await rate("stateless", league.referee, "/mcp");
  const sdkStateless = await rate("stateless", sdk, "/mcp");
  const plain = await rate("plain", league.referee, "/mcp");
  const sdkSession = await rate("session", sdk, "/session");
  await sdk.stop();
  await league.stop();
  return { stateless, plain, sdkStateless, sdkSession, stateBytes: Buffer.byteLength(state) };
}

/** The state of a match when all of them are over. */
async function playedMatch({ manager }: LeagueUnderLoad, url: string): Promise<string> {
  manager.keep(MATCHES);
  manager.keep(0);
  const states = [];
  for (let number = 0; number < MATCHES; number++) states.push(await endOf(`M${number}`, url));
  return states[Number(MATCH.slice(1))] ?? "";
}

async function endOf(match_id: string, url: string): Promise<string> {
  const { headers, body, path } = plainCall("/mcp", "get_game_state", { match_id });
  for (;;) {
    const answer = await fetch(new URL(path, url), { method: "POST", headers, body });
    const { result } = (await answer.json()) as { result: { structuredContent?: { status: string } } };
    if (result.structuredContent?.status === "completed") return JSON.stringify(result.structuredContent);
    await sleep(20);
  }
}

async function callRate(
  { warmupMs, windowMs }: McpPace,
  kind: "plain" | "stateless" | "session",
  server: Measured,
  path: string,
): Promise<Rate> {
  const args = [kind, server.urls[0] ?? "", path, MATCH, String(MCP.inFlightEach)];
  const clients = await Promise.all(
    Array.from({ length: MCP.clients }, () => launch("scripts/bench-mcp-client.ts", args)),
  );
  await sleep(warmupMs / 2);
  const count = async (): Promise<number> => {
    const counts = await Promise.all(clients.map((client) => client.ask<number>("count")));
    return counts.reduce((sum, one) => sum + one, 0);
  };
  const rate = await measure(windowMs, count, { clients, server: [server] });
  await Promise.all(clients.map((client) => client.stop()));
  return rate;
}
