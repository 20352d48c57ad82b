import { playAtRandom, type Step } from "#shared/games/contract/obligation.ts";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { type BenchAgent, type Connection, connectTo, registerAgent, sharedNow } from "./http.ts";

/**
 * A process with clients of a REST server. `play URL CONNECTIONS SESSIONS` plays this number of concurrent sessions repeatedly; `post URL CONNECTIONS
 * BYTES` posts bodies of one size; `create URL CONNECTIONS SESSIONS` creates sessions and then reports that it is ready. Each connection has one request
 * in flight.
 */
export interface ClientReport {
  /** The number of answered actions since the start, without the creation of sessions. */
  readonly count: number;
  /** The number of created sessions since the start. */
  readonly created: number;
  /** Latencies in milliseconds of the actions since the previous report. */
  readonly p50: number;
  readonly p99: number;
  /** The mean sizes in bytes of an action's body and of its answer since the start. */
  readonly requestBytes: number;
  readonly replyBytes: number;
}

/** The session that can be watched, and the times of the answers to its actions, by tick. */
export interface WatchedReport {
  readonly id: string;
  readonly repliedAt: readonly number[];
}

/** A game with cheap rules, so that the host determines the rate. */
const USUAL = "connect_four.v1";
/** The watched session is a long game, so that it does not end within a window. */
const WATCHED = "chess.v1";
const MIN_WATCHED_STEPS = 300;
const USUAL_CANDIDATES = 200;

const [mode, url = "", connections = "", ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());

let latencies: number[] = [];
const total = { actions: 0, created: 0, requestBytes: 0, replyBytes: 0 };
let watched: { id: string; repliedAt: number[] } = { id: "", repliedAt: [] };
/** Called with the next watched session; null if none is requested. */
let onNewWatched: ((report: WatchedReport) => void) | null = null;

async function timedPost(connection: Connection, path: string, token: string, body: string): Promise<void> {
  const startedAt = performance.now();
  const reply = await connection.post(path, token, body);
  latencies.push(performance.now() - startedAt);
  total.actions++;
  total.requestBytes += body.length;
  total.replyBytes += reply.length;
}

/** A session that this process plays: its game, the actions that are chosen in advance, and its agents by role. */
interface Table {
  readonly id: string;
  readonly game: Game;
  readonly steps: readonly Step[];
  readonly agents: Readonly<Record<string, BenchAgent>>;
  tick: number;
}

async function openTable(
  connection: Connection,
  gameId: string,
  steps: readonly Step[],
  seats: readonly [BenchAgent, BenchAgent],
): Promise<Table> {
  const game = findGame(gameId);
  if (!game) throw new Error(`unknown game ${gameId}`);
  const agents = Object.fromEntries(game.roles.map((role, index) => [role, seats[index] as BenchAgent]));
  const participants = Object.fromEntries(Object.entries(agents).map(([role, { agent_id }]) => [role, agent_id]));
  const body = JSON.stringify({ template: gameId, participants, spectators: "public" });
  const { session_id: id } = JSON.parse(await connection.post("/sessions", seats[0].token, body));
  total.created++;
  return { id, game, steps, agents, tick: 0 };
}

async function act(connection: Connection, table: Table): Promise<void> {
  const { role, action } = table.steps[table.tick] as Step;
  const token = table.agents[role]?.token ?? "";
  const body = JSON.stringify({ action, expected_tick: table.tick });
  await timedPost(connection, `/sessions/${table.id}/actions`, token, body);
  table.tick++;
  if (table.id === watched.id) watched.repliedAt[table.tick] = sharedNow();
}

/** Returns the actions of a random game. They are chosen before the measurement. */
function randomSteps(gameId: string, seed: string): readonly Step[] {
  return playAtRandom(findGame(gameId) as Game, {}, seed, createRandom(seed)).steps;
}

function longSteps(): readonly Step[] {
  for (let number = 0; ; number++) {
    const steps = randomSteps(WATCHED, `bench/${number}`);
    if (steps.length >= MIN_WATCHED_STEPS) return steps;
  }
}

/** Returns the actions of the longest of many short games, so that few sessions are created between the actions. */
function usualSteps(): readonly Step[] {
  const candidates = Array.from({ length: USUAL_CANDIDATES }, (_, number) => randomSteps(USUAL, `bench/${number}`));
  return candidates.reduce((longest, steps) => (steps.length > longest.length ? steps : longest));
}

/** Plays the sessions of one connection in turn. The first session of the first connection is the one that can be watched. */
async function playForever(
  number: number,
  sessions: number,
  usual: readonly Step[],
  long: readonly Step[],
): Promise<never> {
  const connection = connectTo(url);
  const seats = [await registerAgent(connection), await registerAgent(connection)] as const;
  const isWatched = (index: number): boolean => number === 0 && index === 0;
  const tables: Table[] = [];
  for (;;) {
    for (let index = 0; index < sessions; index++) {
      const table = tables[index];
      if (!table || table.tick === table.steps.length || (isWatched(index) && onNewWatched)) {
        const [game, steps] = isWatched(index) ? [WATCHED, long] : [USUAL, usual];
        // The first sessions are shortened by different amounts, so that sessions do not end at the same time.
        const skipped = table || isWatched(index) ? 0 : Math.floor(Math.random() * (steps.length - 1));
        const opened = await openTable(connection, game, steps, seats);
        tables[index] = skipped === 0 ? opened : { ...opened, steps: steps.slice(0, steps.length - skipped) };
        if (isWatched(index)) announce(opened);
      }
      await act(connection, tables[index] as Table);
    }
  }
}

function announce({ id }: Table): void {
  watched = { id, repliedAt: [] };
  onNewWatched?.(watched);
  onNewWatched = null;
}

async function postForever(bytes: number): Promise<never> {
  const connection = connectTo(url);
  const token = "x".repeat(43);
  const frame = JSON.stringify({ action: "" }).length;
  const body = JSON.stringify({ action: "x".repeat(Math.max(0, bytes - frame)) });
  for (;;) await timedPost(connection, "/sessions/00000000-0000-4000-8000-000000000000/actions", token, body);
}

/** Creates sessions of the same two agents. */
async function createAll(count: number): Promise<void> {
  const clients = Array.from({ length: Number(connections) }, () => connectTo(url));
  const seats = [await registerAgent(clients[0] as Connection), await registerAgent(clients[0] as Connection)] as const;
  await Promise.all(
    clients.map(async (connection) => {
      while (total.created < count) await openTable(connection, "rps.v1", [], seats);
    }),
  );
}

function report(): ClientReport {
  const sorted = latencies.sort((a, b) => a - b);
  latencies = [];
  const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  const { actions: count, created, requestBytes, replyBytes } = total;
  const mean = (bytes: number): number => Math.round(bytes / Math.max(1, count));
  return {
    count,
    created,
    p50: quantile(0.5),
    p99: quantile(0.99),
    requestBytes: mean(requestBytes),
    replyBytes: mean(replyBytes),
  };
}

process.on("message", (question) => {
  if (question === "new watched") onNewWatched = (report) => process.send?.(report);
  else process.send?.(question === "watched" ? watched : report());
});

const numbers = Array.from({ length: Number(connections) }, (_, number) => number);
if (mode === "create") await createAll(Number(args[0]));
else if (mode === "post") for (const _ of numbers) void postForever(Number(args[0]));
else {
  const [usual, long] = [usualSteps(), longSteps()];
  for (const number of numbers) void playForever(number, Number(args[0]) / numbers.length, usual, long);
}
process.send?.({ type: "ready", url: "" });
