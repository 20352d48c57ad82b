/** A referee with a manager and two players on plain HTTP, which record the messages that they receive and answer as a test determines. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { rpcRequest, rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { type Logger, openLog } from "#shared/runtime/process/logger.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { HostedDriver } from "../match/play-match.ts";
import { createAsker } from "../match/player-messages.ts";
import { startReferee } from "../service.ts";
import type { SessionHost } from "../sessions/host.ts";

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON from the wire
export type Wire = any;

/** A message that the manager or a player has received. */
export interface ReceivedMessage {
  readonly to: "manager" | "P01" | "P02";
  readonly type: MessageType;
  readonly payload: Wire;
  /** The headers and the body of the request. */
  readonly bytes: string;
  /** Resolves when the connection of the request is closed, whether it was answered or not. */
  readonly closed: Promise<void>;
}

/** The answers of a test. By default P01 plays rock, P02 plays scissors, and the manager records every result. */
export interface Answers {
  readonly move?: (request: ReceivedMessage) => unknown;
  readonly result?: (report: ReceivedMessage) => object | null;
  /** The envelope with which a player answers; null for the default answer. */
  readonly player?: (request: ReceivedMessage) => object | null | Promise<never>;
}

/** The manager and the players, without a referee. */
export interface TestLeague {
  readonly received: ReceivedMessage[];
  readonly manager: string;
  /** The order for a match of one round. The seed and the tokens are different for each match. */
  order(more?: object): StartGame;
  /** Resolves with the first message of this type to `to` about a match, and about `epoch` if it is given. */
  waitFor(to: ReceivedMessage["to"], type: MessageType, matchId?: string, epoch?: number): Promise<ReceivedMessage>;
  close(): void;
}

/** A driver of matches that calls players as REF01. */
export const testDriver = (host: SessionHost, peers: Peers, clock: Clock = systemClock): HostedDriver => ({
  host,
  asker: createAsker(peers, () => "referee:REF01", clock, systemIds),
  clock,
  ids: systemIds,
});

export const TOKEN = "the referee's own token";
export const seedOf = (matchId: string): string => `the seed of ${matchId}`;
export const tokenOf = (player: string, matchId: string): string => `${player} in ${matchId}`;
/** The signature of the manager for a match or a league. */
export const signed = (subject = "rps/R1M1"): string => signFor(sha256Hex(TOKEN), subject);

/** Starts the manager and the players. */
export async function startTestLeague(answers: Answers = {}): Promise<TestLeague> {
  const received: ReceivedMessage[] = [];
  const servers: Server[] = [];
  const agent = async (
    to: ReceivedMessage["to"],
    answer: (message: ReceivedMessage) => object | Promise<object>,
  ): Promise<string> => {
    const server = createServer(async (request, response) => {
      let bytes = JSON.stringify(request.headers);
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      bytes += text;
      const closed = new Promise<void>((resolve) => response.once("close", resolve));
      const { id, params } = JSON.parse(text);
      const { type, payload } = params.arguments;
      const message: ReceivedMessage = { to, type, payload, bytes, closed };
      received.push(message);
      const result = textResult(await answer(message));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(rpcResponse(id, result)));
    });
    servers.push(server);
    return `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  };
  const player = (name: "P01" | "P02", defaultMove: string) =>
    agent(name, async (message) => {
      const { match_id, tick } = message.payload;
      const reply = (type: MessageType, payload: object) => newEnvelope(type, `player:${name}`, payload);
      const answer = await answers.player?.(message);
      if (answer) return answer;
      if (message.type === "GAME_INVITE") return reply("GAME_INVITE_RESPONSE", { match_id, accept: true });
      if (message.type !== "MOVE_REQUEST") return reply("ACK", {});
      const move = (await answers.move?.(message)) ?? defaultMove;
      return reply("MOVE_RESPONSE", { match_id, tick, move });
    });
  const manager = await agent("manager", (message) => {
    const recorded = newEnvelope("MATCH_RESULT_RESPONSE", "league_manager:LM01", { status: "RECORDED" });
    if (message.type === "MATCH_RESULT") return answers.result?.(message) ?? recorded;
    const accepted = { status: "ACCEPTED", referee_id: "REF01", auth_token: TOKEN, league_ids: ["rps"], matches: [] };
    return newEnvelope("REFEREE_REGISTER_RESPONSE", "league_manager:LM01", accepted);
  });
  const endpoints = { P01: await player("P01", "rock"), P02: await player("P02", "scissors") };
  return {
    received,
    manager,
    order: (more = {}) => {
      const { match_id } = { match_id: "R1M1", ...more };
      const seat = (id: "P01" | "P02") => ({
        player_id: id,
        endpoint: endpoints[id],
        match_token: tokenOf(id, match_id),
        dialect: "native",
        legal_actions: true,
        round_results: true,
      });
      return {
        league_id: "rps",
        round_id: 1,
        match_id,
        epoch: 1,
        game: "rps.v1",
        options: {},
        seed: seedOf(match_id),
        roles: { player_1: seat("P01"), player_2: seat("P02") },
        timeouts: { join_ms: 20_000, move_ms: 20_000, game_over_ms: 5_000 },
        ...more,
      };
    },
    waitFor: (...message) => vi.waitFor(() => find(received, ...message), WAIT_OPTIONS),
    close() {
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

/** The first message of this type to `to` about a match, and about `epoch` if it is given. Throws if there is none. */
function find(
  received: readonly ReceivedMessage[],
  ...[to, type, matchId = "R1M1", epoch]: Parameters<TestLeague["waitFor"]>
): ReceivedMessage {
  const found = received.find(
    ({ payload, ...message }) =>
      message.to === to &&
      message.type === type &&
      payload.match_id === matchId &&
      (epoch === undefined || payload.epoch === epoch),
  );
  if (!found) throw new Error(`${to} has not received ${type} for ${matchId}`);
  return found;
}

/** The players of `order` in the roles of even/odd. */
export function evenOddRoles({ order }: TestLeague): StartGame["roles"] {
  const { player_1, player_2 } = order().roles;
  return { ODD: player_1, EVEN: player_2 } as StartGame["roles"];
}

/** A registered referee with its manager and players. */
export interface TestReferee extends TestLeague {
  readonly url: string;
  call(method: string, params: object): Promise<Wire>;
  /** Calls a tool. Resolves with its structured answer and `isError`, or with the JSON-RPC error. */
  tool(name: string, args: object): Promise<Wire>;
  /** Sends a message of the manager. Resolves with the envelope of the answer and `isError`. */
  send(type: MessageType, payload: object, authToken?: string): Promise<Wire>;
  /** Sends START_GAME with the manager's signature. */
  begin(more?: object): Promise<Wire>;
  stop(): Promise<void>;
}

export async function startTestReferee(
  answers: Answers = {},
  limitLoopback = false,
  log: Logger = openLog(null, "referee"),
): Promise<TestReferee> {
  const league = await startTestLeague(answers);
  const dataFolder = mkdtempSync(join(tmpdir(), "match-"));
  const ready = Promise.withResolvers<string>();
  const self = silentProcess("referee", {
    log,
    // The last line about the registration.
    say: (line: string) => void (line.startsWith("registered") && registered.resolve()),
    report: (report: Wire) => ready.resolve(report.url),
  });
  const registered = Promise.withResolvers<void>();
  const place = { name: "R", host: "127.0.0.1", manager: league.manager, dataFolder, ports: [0] };
  const referee: RunningAgent = await startReferee({ ...place, maxConcurrentMatches: 4, limitLoopback }, self);
  const url = `${await ready.promise}/mcp`;
  await registered.promise;
  const call: TestReferee["call"] = async (method, params) => {
    const body = JSON.stringify(rpcRequest(method, params));
    return (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  };
  const tool: TestReferee["tool"] = async (name, args) => {
    const { result, error } = await call("tools/call", { name, arguments: args });
    return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  };
  const send: TestReferee["send"] = (type, payload, authToken) =>
    tool("league_message", newEnvelope(type, "league_manager:LM01", payload, { authToken }));
  return {
    ...league,
    url,
    call,
    tool,
    send,
    begin(more) {
      const order = league.order(more);
      return send("START_GAME", order, signed(`rps/${order.match_id}`));
    },
    async stop() {
      await referee.stop();
      league.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
