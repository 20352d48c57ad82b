import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished, vi } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcRequest, rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { participantsOf } from "#shared/session/match-result.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { rowsOf } from "#shared/session/testing/rows.ts";
import { matchSeeds } from "../league/league.ts";
import type { ManagerOptions } from "../manager-options.ts";
import type { LiveEvent } from "../projections/live-events.ts";
import { startManager } from "../service.ts";

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the parsed answer
export type Wire = any;

/** A league manager in this process, with a server at which all its players and referees answer every request. */
export interface TestManager {
  readonly url: string;
  readonly port: number;
  readonly operator: string;
  /** Every token, by the name of its agent. The names equal the ids if the agents register in order. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The endpoint of the player or referee with this name. */
  endpointOf(name: string): string;
  post(body: string, bearer?: string): Promise<{ readonly status: number; readonly body: Wire }>;
  /** Calls a named tool. Returns the parsed text of its result, with `isError`. */
  tool(name: string, args?: object, bearer?: string): Promise<Wire>;
  /** Sends an envelope through `league_message` or another tool. */
  message(type: MessageType, sender: string, payload: object, token?: string, tool?: string): Promise<Wire>;
  /** Registers agents through the plain tools, in order. A name that begins with REF is that of a referee. */
  register(...names: readonly string[]): Promise<void>;
  leagues(): Promise<Wire[]>;
  schedule(leagueId: string): Promise<Wire[]>;
  /** Resolves with a match when it is assigned to a referee. */
  assigned(leagueId: string, matchId: string): Promise<Wire>;
  /** The endpoint of each agent in the manager's file. */
  storedEndpoints(): Readonly<Record<string, string>>;
  /** Prepares its end, as after SIGTERM. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server that answers `{}` to every request until the current test ends. Resolves with its port. */
export async function startProgram(): Promise<number> {
  const program = createServer((_, response) => response.end("{}"));
  onTestFinished(() => void program.close().closeAllConnections());
  return listenOnLoopback(program);
}

/** Starts the server of all players and referees. It answers every request with START_GAME_RESPONSE. */
async function startAgents(): Promise<{ readonly agentServer: Server; readonly port: number }> {
  const agentServer = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const reply = newEnvelope("START_GAME_RESPONSE", "referee:x", {});
    const result = textResult(reply);
    response.end(JSON.stringify(rpcResponse(text === "" ? 0 : JSON.parse(text).id, result)));
  });
  return { agentServer, port: await listenOnLoopback(agentServer) };
}

/**
 * Starts a manager with these leagues on a free port. `more` is merged into its config, `processParts` into its process. `database` is that of a run
 * with several managers.
 */
export async function startTestManager(
  leagues: readonly object[],
  more: object = {},
  onEvent: (event: LiveEvent) => void = () => {},
  processParts: Partial<AgentProcess> = {},
  database?: ManagerOptions["database"],
): Promise<TestManager> {
  const dataFolder = mkdtempSync(join(tmpdir(), "agent-test-"));
  const { agentServer, port: agentPort } = await startAgents();
  const config = Config.parse({ leagues, timeouts: { default_ms: 300 }, ...more });
  let origin = "";
  const agentProcess = silentProcess("manager", {
    report: (report: object) => {
      if ("url" in report) origin = String(report.url);
    },
    ...processParts,
  });
  const options = { config, port: 0, dataFolder, seed: SEED, onEvent, database };
  const manager = await startManager(options, agentProcess);
  const url = `${origin}/mcp`;
  const tokens: Record<string, string> = {};

  const post: TestManager["post"] = async (body, bearer) => {
    const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
    const response = await fetch(url, { method: "POST", headers, body });
    return { status: response.status, body: await response.json() };
  };
  const tool: TestManager["tool"] = async (name, args = {}, bearer) => {
    const { body } = await post(rpcOf("tools/call", { name, arguments: args }), bearer);
    if (body.error) return body.error;
    return { isError: body.result.isError ?? false, ...JSON.parse(body.result.content[0].text) };
  };
  const schedule = async (league_id: string): Promise<Wire[]> => (await tool("get_schedule", { league_id })).schedule;
  const endpointOf = (name: string): string => `http://127.0.0.1:${agentPort}/${name}`;
  return {
    url,
    port: Number(new URL(url).port),
    operator: readFileSync(join(dataFolder, "operator-token"), "utf8").trim(),
    tokens,
    endpointOf,
    post,
    tool,
    message: (type, sender, payload, authToken, name = "league_message") =>
      tool(name, newEnvelope(type, sender, payload, { authToken })),
    async register(...names) {
      for (const name of names) {
        const kind = name.startsWith("REF") ? "referee" : "player";
        const answer = await tool(`register_${kind}`, { [`${kind}_name`]: name, endpoint: endpointOf(name) });
        tokens[name] = answer.auth_token;
      }
    },
    leagues: async () => (await tool("list_leagues")).leagues,
    schedule,
    assigned: (leagueId, matchId) =>
      vi.waitFor(async () => {
        const match = (await schedule(leagueId)).find(({ match_id }) => match_id === matchId);
        if (match?.status !== "assigned") throw new Error(`${leagueId}/${matchId} is ${match?.status}`);
        return match;
      }, WAIT_OPTIONS),
    storedEndpoints() {
      const db = new DatabaseSync(join(dataFolder, "league-manager.sqlite"), { readOnly: true, timeout: 5_000 });
      const rows = db.prepare("SELECT agent_id, endpoint FROM profiles").all();
      db.close();
      return Object.fromEntries(rows.map(({ agent_id, endpoint }) => [String(agent_id), String(endpoint)]));
    },
    leave: async () => manager.leave?.(),
    async stop() {
      await manager.stop();
      agentServer.close().closeAllConnections();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** The text of a JSON-RPC request. */
export const rpcOf = (method: string, params: object = {}): string => JSON.stringify(rpcRequest(method, params, 7));

const AT = "2026-01-01T00:00:00.000Z";
export const ROLES = { player_1: "P01", player_2: "P02" };
/** The seed of the run of a test. */
const SEED = sha256Hex("s");

/** The seed of a match of the league `rps`. */
export const seedOf = (matchId: string, epoch = 1): string => matchSeeds(SEED)("rps", matchId, epoch);

/** The log of a match that P01 wins with rock, or its first `entries` entries. */
export function logOf({
  match_id = "R1M1",
  entries = 3,
  seed = seedOf(match_id),
  options = {},
} = {}): readonly string[] {
  const participants = participantsOf({ league_id: "rps", match_id, roles: ROLES });
  const setup = { id: "s", game: rps, options: rps.options.parse(options), participants, seed, at: AT };
  return playSession(setup, [act("player_1", "rock"), act("player_2", "scissors")]).log.slice(0, entries);
}

/** The fields of a result that carry a log. */
export const withLog = (log: readonly string[]) => ({ log: [...log], log_head: rowsOf("s", log).at(-1)?.hash ?? "" });

/** The result of R1M1, won by P01, with some fields replaced. */
export const won = (more: object = {}) => ({
  league_id: "rps",
  round_id: 1,
  match_id: "R1M1",
  epoch: 1,
  winner: "P01",
  final_scores: { P01: 1, P02: 0 },
  match_points: { P01: 3, P02: 0 },
  termination: "normal" as const,
  reason: "rounds_won",
  faults: [],
  ...withLog(logOf()),
  ...more,
});

/** The result of R2M1, won by P01. */
export const wonR2M1 = () => won({ round_id: 2, match_id: "R2M1", ...withLog(logOf({ match_id: "R2M1" })) });

/** The report of a referee that cannot play R1M1. */
export const abortedR1M1 = (more: object = {}) => ({
  ...won({ winner: null, match_points: {}, final_scores: {}, log: [], log_head: "" }),
  termination: "aborted" as const,
  reason: "our fault",
  ...more,
});
