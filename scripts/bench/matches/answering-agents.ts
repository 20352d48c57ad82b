import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { type Envelope, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import { LEAGUE_FORMAT_VERSION, leagueStream } from "../../../league-manager/league/events.ts";
import type { Match, NewLeagueEvent, Round } from "../../../league-manager/league/league.ts";
import { loadState } from "../../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../../league-manager/store/manager-store.ts";

interface AgentOptions {
  readonly managerUrl: string;
  /** The port of the referee and of all players. */
  readonly port: number;
  /** Whether the referee reports the result of a match. Otherwise the match remains open. */
  readonly reports: (order: StartGame) => boolean;
}

const GAME = "rps.v1";
const CALL = { timeoutMs: 60_000 };

/** One referee and any number of players of a manager. They play no matches: the referee reports a result for each START_GAME. */
export class AnsweringAgents {
  readonly #options: AgentOptions;
  readonly #peers = createPeers({ clock: systemClock });
  readonly #refereeToken = systemIds.token();
  readonly #faults: string[] = [];
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((thrown) => this.#faults.push(String(thrown)));
  });
  #resultCount = 0;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#server.listen(options.port, "127.0.0.1");
  }

  /** The number of results that the manager has accepted. */
  get resultCount(): number {
    return this.#resultCount;
  }

  /** Throws the first fault of a call, if there is one. */
  assertNoFault(): void {
    if (this.#faults.length > 0) throw new Error(this.#faults[0]);
  }

  /** Registers the referee for this number of concurrent matches, and the players. */
  async register(maxConcurrent: number, players: number): Promise<void> {
    const referee = { ...this.#profileOf("referee", "referee"), max_concurrent_matches: maxConcurrent };
    await this.#send("REFEREE_REGISTER_REQUEST", "referee:new", referee, this.#refereeToken);
    for (let n = 1; n <= players; n++) {
      const player = this.#profileOf(`${n}`, `player ${n}`);
      await this.#send("PLAYER_REGISTER_REQUEST", "player:new", player, systemIds.token());
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#peers.close();
  }

  #profileOf(name: string, displayName: string) {
    const contact_endpoint = `http://127.0.0.1:${this.#options.port}/${name}/mcp`;
    return { display_name: displayName, version: "1", game_types: [GAME], contact_endpoint };
  }

  /** Sends a message to the manager and returns the payload of its answer. Throws if the message fails or is rejected. */
  async #send(type: MessageType, sender: string, payload: object, authToken: string): Promise<Envelope["payload"]> {
    const reply = await this.#peers.message(
      this.#options.managerUrl,
      newEnvelope(type, sender, payload, { messageId: systemIds.uuid(), at: systemClock.iso(), authToken }),
      CALL,
    );
    if (!reply.ok) throw new Error(`${type}: ${reply.error.detail}`);
    if (reply.value.type === "LEAGUE_ERROR" && type !== "MATCH_RESULT")
      throw new Error(JSON.stringify(reply.value.payload));
    return reply.value.payload;
  }

  /**
   * Reports the result of a match. A rejection with L004 is ignored: the match was taken from the referee, for example because this process did not
   * answer a probe in time, and will be assigned again.
   */
  async #report(order: StartGame): Promise<void> {
    const answer = await this.#send("MATCH_RESULT", "referee:REF01", resultOf(order), this.#refereeToken);
    if (answer.error_code === undefined) this.#resultCount++;
    else if (answer.error_code !== "L004") throw new Error(JSON.stringify(answer));
  }

  /** Accepts every message. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return void response.writeHead(200).end();
    const { id, params } = JSON.parse(await text(request));
    const envelope: Envelope = params.arguments;
    const stamp = { messageId: systemIds.uuid(), at: systemClock.iso() };
    const isOrder = envelope.type === "START_GAME";
    const reply = isOrder
      ? newEnvelope("START_GAME_RESPONSE", "referee:REF01", { status: "ACCEPTED" }, stamp)
      : newEnvelope("ACK", "player:P01", {}, stamp);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(rpcResponse(id, textResult(reply))));
    const order = envelope.payload as StartGame;
    if (isOrder && this.#options.reports(order)) await this.#report(order);
  }
}

const REFEREE = "REF01";

/** Plays the match of an order, in which the first player wins with rock against scissors. Returns its result. */
function resultOf({
  league_id,
  round_id,
  match_id,
  epoch,
  game: id,
  options: given,
  roles,
  seed,
}: StartGame): MatchResult {
  const game = findGame(id);
  if (!game) throw new Error(`unknown game ${id}`);
  const players = Object.fromEntries(Object.entries(roles).map(([role, seat]) => [role, seat.player_id]));
  const options = game.options.parse(given);
  const participants = participantsOf({ league_id, match_id, roles: players });
  const setup = { id: match_id, game, options, participants, seed, at: systemClock.iso() };
  const { session, log, head } = playSession(setup, [act("player_1", "rock"), act("player_2", "scissors")]);
  return {
    league_id,
    round_id,
    match_id,
    epoch,
    ...outcomeOf(session, head, players),
    log,
  };
}

/**
 * Completes the first `count` rounds of a running league in the file of a stopped manager. The matches get no session logs. Returns the number of
 * completed matches.
 */
export async function recordRounds(file: string, leagueId: string, count: number): Promise<number> {
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, localWriter(db, systemClock));
  const league = (await loadState(store, [leagueId])).state.leagues.get(leagueId);
  if (!league) throw new Error(`${leagueId} is not in ${file}`);
  let { version: expectedVersion } = league;
  const at = systemClock.iso();
  const rounds = league.rounds.slice(0, count);
  for (const round of rounds) {
    const events = eventsOf(round).map((event) => ({
      type: event.type,
      body: JSON.stringify({ v: LEAGUE_FORMAT_VERSION, at, ...event }),
    }));
    await store.commit([{ stream: leagueStream(leagueId), expectedVersion, events }], [], at);
    expectedVersion += events.length;
  }
  await store.close();
  db.close();
  return rounds.reduce((sum, { matches }) => sum + matches.length, 0);
}

const eventsOf = ({ roundId: round_id, isOpened, isAnnounced, matches }: Round): readonly NewLeagueEvent[] => [
  ...(isOpened ? [] : [{ type: "round_opened", round_id, absent: [] } as const]),
  ...matches.flatMap(completionOf),
  ...(isAnnounced ? [] : [{ type: "round_announced", round_id } as const]),
];

/** Returns the events that complete a match. The first player wins. */
function completionOf({ matchId: match_id, epoch, status, players }: Match): readonly NewLeagueEvent[] {
  const [winner = "", loser = ""] = players;
  const matchFields = { match_id, epoch, referee_id: REFEREE };
  return [
    ...(status === "scheduled" ? [{ type: "match_assigned", ...matchFields } as const] : []),
    {
      type: "match_completed",
      ...matchFields,
      winner,
      termination: "normal",
      reason: "rounds_won",
      faults: [],
      final_scores: { [winner]: 1, [loser]: 0 },
      match_points: { [winner]: 3, [loser]: 0 },
      log_head: sha256Hex(match_id),
    },
  ];
}
