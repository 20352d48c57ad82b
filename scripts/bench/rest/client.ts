import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { playAtRandom, type Step } from "#shared/games/simulate.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { type BenchAgent, type Connection, connectTo, registerAgent, sharedNow } from "./http.ts";

/**
 * Clients of a REST server, a process of their own: `play URL CONNECTIONS SESSIONS` plays so many sessions at once, over and
 * over; `post URL CONNECTIONS BYTES` posts bodies of one size; `create URL CONNECTIONS SESSIONS` only creates sessions and is ready
 * then. Each connection has one request in flight.
 */
export interface ClientTold {
  /** Actions that were answered since the start; creating sessions is not among them. */
  readonly count: number;
  readonly created: number;
  /** Of the actions since it was last asked, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Bytes of an action's body and of its answer, means since the start. */
  readonly requestBytes: number;
  readonly replyBytes: number;
}

/** The session that may be watched, and when the answer to each of its actions came, by its tick. */
export interface WatchedTold {
  readonly id: string;
  readonly repliedAt: readonly number[];
}

/** Cheap rules, so that the host is what is measured. */
const USUAL = "connect_four.v1";
/** The session that is watched is a long game: its spectators need not come again within a window. */
const WATCHED = "chess.v1";
const SHORTEST_WATCHED = 300;
const USUAL_TRIED = 200;

const [mode, url = "", connections = "", ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());

let latencies: number[] = [];
const total = { actions: 0, created: 0, requestBytes: 0, replyBytes: 0 };
let watched: { id: string; repliedAt: number[] } = { id: "", repliedAt: [] };
/** Set while somebody waits for a new watched session. */
let wanted: ((told: WatchedTold) => void) | null = null;

async function timedPost(connection: Connection, path: string, token: string, body: string): Promise<void> {
  const begun = performance.now();
  const reply = await connection.post(path, token, body);
  latencies.push(performance.now() - begun);
  total.actions++;
  total.requestBytes += body.length;
  total.replyBytes += reply.length;
}

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
  if (!game) throw new Error(`no game ${gameId}`);
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

/** A game's moves, chosen before any clock runs. */
function randomSteps(gameId: string, seed: string): readonly Step[] {
  return playAtRandom(findGame(gameId) as Game, {}, seed, createRandom(seed)).steps;
}

function longSteps(): readonly Step[] {
  for (let number = 0; ; number++) {
    const steps = randomSteps(WATCHED, `bench/${number}`);
    if (steps.length >= SHORTEST_WATCHED) return steps;
  }
}

/** The longest of many short games: the fewer sessions are created between the actions, the better. */
function usualSteps(): readonly Step[] {
  const all = Array.from({ length: USUAL_TRIED }, (_, number) => randomSteps(USUAL, `bench/${number}`));
  return all.reduce((longest, steps) => (steps.length > longest.length ? steps : longest));
}

/** Plays the sessions of one connection in turn; the first one of the first connection is the one that may be watched. */
async function playOn(number: number, sessions: number, usual: readonly Step[], long: readonly Step[]): Promise<never> {
  const connection = connectTo(url);
  const seats = [await registerAgent(connection), await registerAgent(connection)] as const;
  const isWatched = (index: number): boolean => number === 0 && index === 0;
  const tables: Table[] = [];
  for (;;) {
    for (let index = 0; index < sessions; index++) {
      const table = tables[index];
      if (!table || table.tick === table.steps.length || (isWatched(index) && wanted)) {
        const [game, steps] = isWatched(index) ? [WATCHED, long] : [USUAL, usual];
        // At first of all ages, so that they do not end together.
        const cut = table || isWatched(index) ? 0 : Math.floor(Math.random() * (steps.length - 1));
        const opened = await openTable(connection, game, steps, seats);
        tables[index] = cut === 0 ? opened : { ...opened, steps: steps.slice(0, steps.length - cut) };
        if (isWatched(index)) announce(opened);
      }
      await act(connection, tables[index] as Table);
    }
  }
}

function announce({ id }: Table): void {
  watched = { id, repliedAt: [] };
  wanted?.(watched);
  wanted = null;
}

async function postOn(bytes: number): Promise<never> {
  const connection = connectTo(url);
  const token = "x".repeat(43);
  const frame = JSON.stringify({ action: "" }).length;
  const body = JSON.stringify({ action: "x".repeat(Math.max(0, bytes - frame)) });
  for (;;) await timedPost(connection, "/sessions/00000000-0000-4000-8000-000000000000/actions", token, body);
}

/** Two agents are enough for any number of sessions. */
async function createAll(count: number): Promise<void> {
  const all = Array.from({ length: Number(connections) }, () => connectTo(url));
  const seats = [await registerAgent(all[0] as Connection), await registerAgent(all[0] as Connection)] as const;
  await Promise.all(
    all.map(async (connection) => {
      while (total.created < count) await openTable(connection, "rps.v1", [], seats);
    }),
  );
}

function told(): ClientTold {
  const sorted = latencies.sort((a, b) => a - b);
  latencies = [];
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  const { actions: count, created, requestBytes, replyBytes } = total;
  const each = (bytes: number): number => Math.round(bytes / Math.max(1, count));
  return {
    count,
    created,
    p50: at(0.5),
    p99: at(0.99),
    requestBytes: each(requestBytes),
    replyBytes: each(replyBytes),
  };
}

process.on("message", (question) => {
  if (question === "new watched") wanted = (fresh) => process.send?.(fresh);
  else process.send?.(question === "watched" ? watched : told());
});

const numbers = Array.from({ length: Number(connections) }, (_, number) => number);
if (mode === "create") await createAll(Number(args[0]));
else if (mode === "post") for (const _ of numbers) void postOn(Number(args[0]));
else {
  const [usual, long] = [usualSteps(), longSteps()];
  for (const number of numbers) void playOn(number, Number(args[0]) / numbers.length, usual, long);
}
process.send?.({ type: "ready", url: "" });
