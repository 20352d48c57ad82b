import { once } from "node:events";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef, playerId, systemIds } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { historyField, offersWebSocket, transportsField } from "#shared/protocol/message-fields.ts";
import * as messages from "#shared/protocol/messages.ts";
import * as registration from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { mcpMethods } from "#shared/rpc/mcp/methods.ts";
import { operation, toolsOf } from "#shared/rpc/mcp/operations.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";

const SENDER = "league_manager:LM01";
const LEAGUE = "bench";
const GAME = "even_odd.v1";
/** Rounds of a match. Each round has two moves. */
export const ROUNDS = 50;
const BODY_BYTES = 4 * 1024 * 1024;
const TIMEOUTS = { join_ms: 30_000, move_ms: 120_000, game_over_ms: 30_000 };

interface Agent {
  readonly id: string;
  readonly endpoint: string;
  readonly tokenHash: string;
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  readonly wantsDeltaViews: boolean;
  readonly offersWebSocket: boolean;
}

/** A league manager that only gives matches to one referee. */
export interface BenchManager {
  /** Resolves when the referee and this number of players have registered. */
  registered(players: number): Promise<void>;
  /** Keeps this number of matches running. The first matches have different lengths, so that matches do not end at the same time. */
  keep(inFlight: number): void;
  /** Whether all shortened first matches have ended. The ends of the running matches are then evenly distributed. */
  isSteady(): boolean;
  /** Results without a normal end, and failed calls. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** The agents that have registered. */
interface Roster {
  readonly players: Agent[];
  referee: Pick<Agent, "endpoint" | "tokenHash" | "offersWebSocket"> | null;
}

/** The matches of the benchmark. When a match ends, the next match is started. */
class Matches {
  readonly faults: string[] = [];
  readonly #roster: Roster;
  readonly #peers: Peers;
  readonly #endpointOf: ((endpoint: string) => string) | undefined;
  readonly #firstMatches = new Set<string>();
  #targetCount = 0;
  #runningCount = 0;
  #startedCount = 0;

  constructor(roster: Roster, peers: Peers, endpointOf: ((endpoint: string) => string) | undefined) {
    this.#roster = roster;
    this.#peers = peers;
    this.#endpointOf = endpointOf;
  }

  keep(inFlight: number): void {
    this.#targetCount = inFlight;
    for (let missing = inFlight - this.#runningCount; missing > 0; missing--) void this.#startNext();
  }

  get isSteady(): boolean {
    return this.#firstMatches.size === 0;
  }

  recordResult({ match_id, termination, reason }: messages.MatchResult): void {
    if (termination !== "normal") this.faults.push(`${match_id} ${termination}: ${reason}`);
    this.#firstMatches.delete(match_id);
    this.#runningCount--;
    if (this.#runningCount < this.#targetCount) void this.#startNext();
  }

  async #startNext(): Promise<void> {
    const { referee } = this.#roster;
    if (!referee) throw new Error("no referee");
    this.#runningCount++;
    const number = this.#startedCount++;
    const match_id = `M${number}`;
    const isFirst = number < this.#targetCount;
    if (isFirst) this.#firstMatches.add(match_id);
    const rounds = isFirst ? 1 + Math.floor((number / this.#targetCount) * ROUNDS) : ROUNDS;
    const envelope = newEnvelope("START_GAME", SENDER, this.#orderOf(number, match_id, rounds), {
      messageId: systemIds.uuid(),
      authToken: signFor(referee.tokenHash, matchRef(LEAGUE, match_id)),
      at: systemClock.iso(),
    });
    const reply = await this.#peers.message(referee.endpoint, envelope, {
      timeoutMs: 30_000,
      socket: referee.offersWebSocket,
    });
    if (!reply.ok) this.faults.push(`START_GAME: ${reply.error.detail}`);
    else if (reply.value.type !== "START_GAME_RESPONSE") this.faults.push(JSON.stringify(reply.value.payload));
  }

  #orderOf(number: number, match_id: string, rounds: number): messages.StartGame {
    const { players } = this.#roster;
    const odd = players[number % players.length] as Agent;
    const step = 1 + (Math.floor(number / players.length) % (players.length - 1));
    const even = players[(number + step) % players.length] as Agent;
    return {
      league_id: LEAGUE,
      match_id,
      round_id: 1,
      epoch: 1,
      game: GAME,
      options: { rounds_to_win: rounds, max_rounds: rounds },
      seed: `bench/${match_id}`,
      roles: { ODD: this.#seatOf(odd, match_id), EVEN: this.#seatOf(even, match_id) },
      timeouts: TIMEOUTS,
    };
  }

  #seatOf(player: Agent, match_id: string): messages.StartGame["roles"][string] {
    return {
      player_id: player.id,
      endpoint: this.#endpointOf?.(player.endpoint) ?? player.endpoint,
      // A relay forwards POST only.
      ...transportsField(player.offersWebSocket && !this.#endpointOf),
      dialect: "native",
      match_token: signFor(player.tokenHash, matchRef(LEAGUE, match_id)),
      legal_actions: player.wantsLegalActions,
      round_results: player.wantsRoundResults,
      ...historyField(player.wantsDeltaViews),
    };
  }
}

/** Creates the HTTP endpoint of the manager, which accepts registrations and results. */
function endpointFor(roster: Roster, matches: Matches) {
  const operations = [
    operation({
      request: "REFEREE_REGISTER_REQUEST",
      reply: "REFEREE_REGISTER_RESPONSE",
      payload: registration.RefereeRegisterRequest,
      handle: (request) =>
        accept((tokenHash) => {
          const isOffered = offersWebSocket(request.transports);
          roster.referee = { endpoint: request.contact_endpoint, tokenHash, offersWebSocket: isOffered };
          return { referee_id: "REF01", matches: [] };
        }),
    }),
    operation({
      request: "PLAYER_REGISTER_REQUEST",
      reply: "PLAYER_REGISTER_RESPONSE",
      payload: registration.PlayerRegisterRequest,
      handle: (request) =>
        accept((tokenHash) => {
          const player = playerOf(request, roster.players.length + 1, tokenHash);
          roster.players.push(player);
          return { player_id: player.id };
        }),
    }),
    operation({
      request: "MATCH_RESULT",
      reply: "MATCH_RESULT_RESPONSE",
      payload: messages.MatchResult,
      handle: (result, caller) => {
        const isReferee = sha256Hex(caller.authToken ?? "") === roster.referee?.tokenHash;
        if (!isReferee) return err(protocolError("L004", "the sender is not the referee of this benchmark"));
        matches.recordResult(result);
        return ok({ status: "RECORDED" });
      },
    }),
  ];
  const tools = toolsOf(operations, () => SENDER, systemClock, systemIds);
  const surface = { serverInfo: { name: "bench", version: "1.0.0" }, tools, resources: [], templates: [] };
  const rpc = jsonRpc(mcpMethods(surface), (error) => matches.faults.push(String(error)));
  return httpEndpoint({
    handler: rpc.answer,
    web: () => Promise.reject(new Error("the benchmark has no pages")),
    bodyLimit: () => BODY_BYTES,
    allowedHosts: [],
  });
}

const playerOf = (request: registration.PlayerRegisterRequest, number: number, tokenHash: string): Agent => ({
  id: playerId(number),
  endpoint: request.contact_endpoint ?? "",
  tokenHash,
  wantsLegalActions: request.legal_actions ?? true,
  wantsRoundResults: request.round_results ?? true,
  wantsDeltaViews: request.history === "delta",
  offersWebSocket: offersWebSocket(request.transports),
});

/** Accepts a registration with a new token. `register` returns the other fields of the answer. */
function accept(register: (tokenHash: string) => object) {
  const token = systemIds.token();
  return ok({ status: "ACCEPTED", auth_token: token, league_ids: [LEAGUE], ...register(sha256Hex(token)) });
}

/** Starts the manager. `endpointOf` returns the address at which the referee reaches a player, for example that of a relay. */
export async function startBenchManager(
  port: number,
  endpointOf?: (endpoint: string) => string,
): Promise<BenchManager> {
  const roster: Roster = { players: [], referee: null };
  const peers = createPeers({ clock: systemClock });
  const matches = new Matches(roster, peers, endpointOf);
  const server = endpointFor(roster, matches);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    faults: matches.faults,
    async registered(count) {
      while (!roster.referee || roster.players.length < count) await pause();
      // The referee may not be ready when its registration is answered.
      const ready = new URL("/ready", roster.referee.endpoint).href;
      while ((await peers.probe(ready, 1_000)) !== "alive") await pause();
    },
    keep: (inFlight) => matches.keep(inFlight),
    isSteady: () => matches.isSteady,
    async close() {
      matches.keep(0);
      await peers.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** The part of a JSON-RPC tool call that contains the type of the message. */
export const ToolCall = z.object({ params: z.object({ arguments: z.object({ type: z.string() }) }) });
