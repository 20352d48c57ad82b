import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import { openLog } from "#shared/runtime/logger.ts";
import type { Agent } from "./agents.ts";
import { createDispatcher, type Dispatcher, type DispatchOptions } from "./dispatch.ts";
import type { Match } from "./league.ts";
import type { AgentRegistry } from "./registry.ts";

/**
 * How a referee answers one START_GAME: `busy` is HTTP 503, `full` and `foreign` are errors of the protocol, `plain` is a tool result
 * without an envelope.
 */
type Answer = "accepted" | "full" | "foreign" | "busy" | "plain";

/** A referee that plays no match and keeps the messages that it receives. */
export interface TestReferee {
  readonly agent: Agent;
  readonly orders: StartGame[];
  readonly signatures: string[];
  readonly server: Server;
  /** To every START_GAME from now on. */
  answer: Answer;
  /** Resolves when the referee has accepted a match. */
  readonly accepted: Promise<void>;
}

/** Starts a referee for the test that runs; `onOrder` is called when an order is answered. */
export async function startReferee(
  id: string,
  maxConcurrent: number,
  onOrder: () => void = () => {},
): Promise<TestReferee> {
  const orders: StartGame[] = [];
  const signatures: string[] = [];
  const accepted = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return void response.end("ok");
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id: call, params } = JSON.parse(body);
    const isOrder = params.arguments.type === "START_GAME";
    orders.push(params.arguments.payload);
    signatures.push(params.arguments.auth_token);
    const answer = isOrder ? referee.answer : "accepted";
    if (isOrder && answer === "accepted") response.once("finish", accepted.resolve);
    if (answer === "busy") return void response.writeHead(503).end("", onOrder);
    const error =
      answer === "full" ? { error_code: "G005", retryable: true } : { error_code: "L004", retryable: false };
    const reply =
      answer === "accepted"
        ? newEnvelope("START_GAME_RESPONSE", `referee:${id}`, { status: "ACCEPTED" })
        : newEnvelope("GAME_ERROR", `referee:${id}`, { ...error, message: answer });
    const text = JSON.stringify(answer === "plain" ? { status: "ACCEPTED" } : reply);
    const result = { content: [{ type: "text", text }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: call, result }), onOrder);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const agent: Agent = {
    id,
    kind: "referee",
    name: id,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tokenHash: sha256Hex(`token of ${id}`),
    gameTypes: ["rps.v1"],
    wantsLegalActions: false,
    wantsRoundResults: false,
    takesBatches: false,
    maxConcurrent,
    dialect: "native",
    state: "ACTIVE",
    fails: 0,
  };
  const referee: TestReferee = { agent, orders, signatures, server, answer: "accepted", accepted: accepted.promise };
  return referee;
}

/** Matches of the first round. */
export const matchesOfRound = (count: number): Match[] =>
  Array.from({ length: count }, (_, index) => ({
    leagueId: "rps",
    matchId: `R1M${index + 1}`,
    roundId: 1,
    roles: { player_1: "P01", player_2: "P02" },
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    aborts: 0,
    result: null,
  }));

/** Starts a dispatcher for the test that runs; `refusals` are its reports of referees that take no match. */
export function startDispatcher(
  referees: readonly TestReferee[],
  options: Partial<DispatchOptions> = {},
): Dispatcher & { readonly refusals: readonly string[] } {
  const peers = createPeers({ clock: systemClock });
  const refusals: string[] = [];
  const registry = {
    all: () => referees.map(({ agent }) => agent),
    get: (id: string) => referees.find(({ agent }) => agent.id === id)?.agent,
  } as unknown as AgentRegistry;
  const dispatcher = createDispatcher({
    registry,
    peers,
    log: openLog(null, "test"),
    sender: "league_manager:LM01",
    timeoutMs: 1_000,
    matchMs: 60_000,
    onOverdue: () => {},
    save: async () => {},
    orderOf: (match) => ({ league_id: match.leagueId, match_id: match.matchId, epoch: match.epoch }) as StartGame,
    gameOf: () => "rps.v1",
    turnOf: (match) => Number(match.matchId.slice(3)) - 1,
    onReferee: () => {},
    onNoReferee: () => {},
    onRefusal: (refusing, why) => void refusals.push(`${refusing.id}: ${why}`),
    refusalsMs: 400,
    ...options,
  });
  onTestFinished(async () => {
    dispatcher.stop();
    await peers.close();
  });
  return { ...dispatcher, refusals };
}
