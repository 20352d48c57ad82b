import { once } from "node:events";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef, playerId, systemIds } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import * as registration from "#shared/protocol/registration-messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { httpEndpoint } from "#shared/rpc/http/endpoint.ts";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { mcpMethods } from "#shared/rpc/mcp/mcp.ts";
import { operation, toolsOf } from "#shared/rpc/mcp/operations.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";

const SENDER = "league_manager:LM01";
const LEAGUE = "bench";
const GAME = "even_odd.v1";
/** Rounds of a match; each is two moves. */
export const ROUNDS = 50;
const BODY_BYTES = 4 * 1024 * 1024;
const TIMEOUTS = { join_ms: 30_000, move_ms: 120_000, game_over_ms: 30_000 };

interface Agent {
  readonly id: string;
  readonly endpoint: string;
  readonly tokenHash: string;
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  readonly takesBatches: boolean;
}

/** A league manager that does nothing but keep one referee busy. */
export interface BenchManager {
  /** Resolves when the referee and so many players have registered. */
  registered(players: number): Promise<void>;
  /** Keeps so many matches in flight from now on. The first ones are cut to different lengths, so that they do not march in step. */
  keep(inFlight: number): void;
  /** Whether every first, shortened match is over: from then on matches are of all ages. */
  isSteady(): boolean;
  /** Results that were not a normal end, and calls that failed. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** `endpointOf` may put something between the referee and a player. */
export async function startBenchManager(
  port: number,
  endpointOf: (endpoint: string) => string = (endpoint) => endpoint,
): Promise<BenchManager> {
  const players: Agent[] = [];
  let referee: { endpoint: string; tokenHash: string } | null = null;
  const peers = createPeers({ clock: systemClock });
  const faults: string[] = [];
  let wanted = 0;
  let running = 0;
  let begun = 0;
  const firstOnes = new Set<string>();

  const seat = (player: Agent, ref: string) => ({
    player_id: player.id,
    endpoint: endpointOf(player.endpoint),
    dialect: "native",
    match_token: signFor(player.tokenHash, ref),
    legal_actions: player.wantsLegalActions,
    round_results: player.wantsRoundResults,
    batch: player.takesBatches,
  });

  const begin = async (): Promise<void> => {
    if (!referee) throw new Error("no referee");
    running++;
    const number = begun++;
    const match_id = `M${number}`;
    const ref = matchRef(LEAGUE, match_id);
    const isFirst = number < wanted;
    if (isFirst) firstOnes.add(match_id);
    const rounds = isFirst ? 1 + Math.floor((number / wanted) * ROUNDS) : ROUNDS;
    const odd = players[number % players.length] as Agent;
    const step = 1 + (Math.floor(number / players.length) % (players.length - 1));
    const even = players[(number + step) % players.length] as Agent;
    const order: messages.StartGame = {
      league_id: LEAGUE,
      match_id,
      round_id: 1,
      epoch: 1,
      game: GAME,
      options: { rounds_to_win: rounds, max_rounds: rounds },
      seed: `bench/${match_id}`,
      roles: { ODD: seat(odd, ref), EVEN: seat(even, ref) },
      timeouts: TIMEOUTS,
    };
    const envelope = newEnvelope("START_GAME", SENDER, order, {
      messageId: systemIds.uuid(),
      authToken: signFor(referee.tokenHash, ref),
      at: systemClock.iso(),
    });
    const reply = await peers.message(referee.endpoint, envelope, { timeoutMs: 30_000 });
    if (!reply.ok) faults.push(`START_GAME: ${reply.error.detail}`);
    else if (reply.value.type !== "START_GAME_RESPONSE") faults.push(JSON.stringify(reply.value.payload));
  };

  const accepted = (tokenHash: (hash: string) => object) => {
    const token = systemIds.token();
    return ok({ status: "ACCEPTED", auth_token: token, league_ids: [LEAGUE], ...tokenHash(sha256Hex(token)) });
  };
  const operations = [
    operation({
      request: "REFEREE_REGISTER_REQUEST",
      reply: "REFEREE_REGISTER_RESPONSE",
      payload: registration.RefereeRegisterRequest,
      handle: (request) =>
        accepted((tokenHash) => {
          referee = { endpoint: request.contact_endpoint, tokenHash };
          return { referee_id: "REF01", matches: [] };
        }),
    }),
    operation({
      request: "PLAYER_REGISTER_REQUEST",
      reply: "PLAYER_REGISTER_RESPONSE",
      payload: registration.PlayerRegisterRequest,
      handle: (request) =>
        accepted((tokenHash) => {
          const id = playerId(players.length + 1);
          const wantsLegalActions = request.legal_actions ?? true;
          players.push({
            id,
            endpoint: request.contact_endpoint,
            tokenHash,
            wantsLegalActions,
            wantsRoundResults: request.round_results ?? true,
            takesBatches: request.batch ?? false,
          });
          return { player_id: id };
        }),
    }),
    operation({
      request: "MATCH_RESULT",
      reply: "MATCH_RESULT_RESPONSE",
      payload: messages.MatchResult,
      handle: (result, caller) => {
        if (sha256Hex(caller.authToken ?? "") !== referee?.tokenHash)
          return err(protocolError("L004", "not my referee"));
        if (result.termination !== "normal") faults.push(`${result.match_id} ${result.termination}: ${result.reason}`);
        firstOnes.delete(result.match_id);
        running--;
        if (running < wanted) void begin();
        return ok({ status: "RECORDED" });
      },
    }),
  ];
  const tools = toolsOf(operations, () => SENDER, systemClock, systemIds);
  const surface = { serverInfo: { name: "bench", version: "1.0.0" }, tools, resources: [], templates: [] };
  const rpc = jsonRpc(mcpMethods(surface), (error) => faults.push(String(error)), systemClock);
  const server = httpEndpoint({
    handler: rpc.answer,
    web: () => Promise.reject(new Error("no pages here")),
    bodyLimit: () => BODY_BYTES,
    allowedHosts: [],
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");

  return {
    faults,
    async registered(count) {
      while (!referee || players.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
      // The referee's own end of the registration is not yet over when the answer leaves here.
      const ready = new URL("/ready", referee.endpoint).href;
      while (!(await peers.isAlive(ready, 1_000))) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    keep(inFlight) {
      wanted = inFlight;
      for (let missing = wanted - running; missing > 0; missing--) void begin();
    },
    isSteady: () => firstOnes.size === 0,
    async close() {
      wanted = 0;
      await peers.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What a JSON-RPC call of a tool looks like, for telling MOVE_REQUESTs from the rest. */
export const ToolCall = z.object({ params: z.object({ arguments: z.object({ type: z.string() }) }) });
