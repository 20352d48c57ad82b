import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { Envelope } from "#shared/protocol/envelope.ts";
import { StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { startManager } from "../../league-manager/service.ts";
import { randomResult } from "../../league-manager/testing/random-results.ts";

/** A league of players by name. Its matches are not played: the test reports results of random actions. */
export interface ReportedLeague {
  readonly league_id: string;
  readonly game: string;
  readonly options?: object;
  readonly format?: string;
  readonly format_options?: object;
  readonly players: readonly string[];
  /** The number of further players that the league waits for, so that it does not start; 0 by default. */
  readonly missing?: number;
  /** The number of results that are reported at the start; all by default. */
  readonly results?: number;
}

/** A real league manager in this process with leagues, three referees and players that accept every message. */
export interface ReportedLeagues {
  readonly url: string;
  readonly operatorToken: string;
  /** Reports the results of further matches of a league, one after the other, as its rounds begin. Resolves when they are recorded. */
  report(leagueId: string, count: number): Promise<void>;
  /** Resolves with the result of the next match as its referee reports it. The caller sends it with `sendResult`. */
  nextResult(leagueId: string): Promise<Envelope>;
  /** Reports the results of all further matches of a league. Resolves when the league is over. */
  finish(leagueId: string): Promise<void>;
  /** Stops the manager, and starts it again on the same port and data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const REFEREES = 3;
/** No match waits for a free referee. */
const CAPACITY = 10_000;
/** The number of results that are sent at the same time. */
const CONCURRENT = 8;

/** Starts leagues. `managerConfig` is `manager` of the config. Resolves when the results that they begin with are recorded. */
export async function startReportedLeagues(
  leagues: readonly ReportedLeague[],
  managerConfig: object = {},
): Promise<ReportedLeagues> {
  const orders = new Map(leagues.map(({ league_id }) => [league_id, new OrderQueue()]));
  const players = await serveTools(() => newEnvelope("ACK", "player:any", {}));
  const dataFolder = mkdtempSync(join(tmpdir(), "reported-leagues-"));
  const config = Config.parse({
    manager: managerConfig,
    leagues: leagues.map(({ players, missing = 0, results: _, ...league }) => ({
      format: "round-robin",
      min_players: Math.max(2, players.length + missing),
      ...league,
    })),
  });
  let manager: RunningAgent | null = null;
  const startOn = async (port: number): Promise<string> => {
    const ready = Promise.withResolvers<string>();
    const report = (one: { readonly type: string; readonly url?: string }) => one.url && ready.resolve(one.url);
    const onEvent = (event: LiveEvent): void => {
      if (event.type === "league_completed") orders.get(event.league_id)?.close();
    };
    const options = { config, port, dataFolder, seed: sha256Hex("reported"), onEvent };
    manager = await startManager(options, silentProcess("manager", { report }));
    return ready.promise;
  };
  // Not a port of outgoing connections, one of which could take it while a test restarts the manager.
  const url = await startOn(await freePort());
  const referees: Awaited<ReturnType<typeof startReferee>>[] = [];
  for (let number = 1; number <= REFEREES; number++) referees.push(await startReferee(url, number, orders));
  const nextResult = async (leagueId: string): Promise<Envelope> => {
    const order = await orders.get(leagueId)?.next();
    if (!order) throw new Error(`the league ${leagueId} is over`);
    return resultOf(order);
  };
  const report = (leagueId: string, count: number): Promise<void> =>
    concurrently(count, async () => sendResult(url, await nextResult(leagueId)));
  for (const { league_id, game, players: names } of leagues) {
    for (const name of names) await register(url, name, game, league_id, players.url); // in order, as the ids
  }
  for (const { league_id, players: names, missing = 0, results } of leagues) {
    if (names.length < 2 || missing > 0) continue;
    if (results === undefined) await reportAll(url, orders.get(league_id) as OrderQueue);
    else await report(league_id, results);
  }
  return {
    url,
    operatorToken: readFileSync(join(dataFolder, "operator-token"), "utf8").trim(),
    report,
    nextResult,
    finish: (leagueId) => reportAll(url, orders.get(leagueId) as OrderQueue),
    async restart() {
      await manager?.stop();
      await startOn(Number(new URL(url).port));
    },
    async close() {
      await manager?.stop();
      for (const server of [players, ...referees]) server.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** A match that a referee of the test is to play. */
interface Order {
  readonly match: StartGame;
  readonly referee: { id: string; token: string };
}

/** Registers a referee that accepts all matches. */
async function startReferee(url: string, number: number, orders: ReadonlyMap<string, OrderQueue>) {
  const referee = { id: "", token: "" };
  const server = await serveTools(({ args }) => {
    const { type, payload } = Envelope.parse(args);
    if (type === "START_GAME") {
      const match = StartGame.parse(payload);
      orders.get(match.league_id)?.add({ match, referee });
    }
    return newEnvelope("START_GAME_RESPONSE", `referee:${referee.id}`, { status: "ACCEPTED" });
  });
  const args = { referee_name: `Referee ${number}`, endpoint: server.url, max_concurrent_matches: CAPACITY };
  const { referee_id, auth_token } = await call(url, "register_referee", args);
  [referee.id, referee.token] = [referee_id, auth_token];
  return server;
}

/** The matches of a league that have been assigned to a referee and are not reported. */
class OrderQueue {
  readonly #orders: Order[] = [];
  readonly #waiting: ((order: Order | null) => void)[] = [];
  #isClosed = false;

  add(order: Order): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(order);
    else this.#orders.push(order);
  }

  /** Resolves with the next match; null after the end of the league. */
  next(): Promise<Order | null> {
    const order = this.#orders.shift();
    if (order) return Promise.resolve(order);
    return this.#isClosed ? Promise.resolve(null) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.splice(0)) resolve(null);
  }
}

/** Calls a function with the numbers from 0 to `count` - 1, some of them at the same time. */
async function concurrently(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
}

async function register(url: string, name: string, game: string, leagueId: string, endpoint: string): Promise<void> {
  const request = {
    display_name: name,
    game_types: [game],
    league_ids: [leagueId],
    announcements: false,
    contact_endpoint: `${endpoint}/${leagueId}/${encodeURIComponent(name)}`,
  };
  const { payload } = await call(url, "league_message", newEnvelope("PLAYER_REGISTER_REQUEST", "player:new", request));
  if (payload.status !== "ACCEPTED") throw new Error(`${name}: ${JSON.stringify(payload)}`);
}

/** Reports the results of matches until the league is over. */
async function reportAll(url: string, orders: OrderQueue): Promise<void> {
  await concurrently(CONCURRENT, async () => {
    for (let order = await orders.next(); order; order = await orders.next()) await sendResult(url, resultOf(order));
  });
}

/** Returns the message of a referee with a random result of its match. */
const resultOf = ({ match, referee }: Order): Envelope =>
  newEnvelope("MATCH_RESULT", `referee:${referee.id}`, randomResult(match), { authToken: referee.token });

/** Sends the message of a referee with a result to a manager. */
export async function sendResult(url: string, result: Envelope): Promise<void> {
  const { payload } = await call(url, "league_message", result);
  if (payload.status !== "RECORDED") throw new Error(JSON.stringify(payload));
}

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON of the manager
type Wire = any;

/** Calls a tool of the manager. Resolves with the parsed text of its answer. */
async function call(url: string, name: string, args: object): Promise<Wire> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers,
    body: JSON.stringify(rpcToolCall(name, args)),
  });
  const { result, error } = (await response.json()) as Wire;
  if (error) throw new Error(JSON.stringify(error));
  return JSON.parse(result.content[0].text);
}
