import { Pool } from "undici";
import { findGame } from "#shared/games/registry.ts";
import { initialize, initialized, listen, plainCall, post, sessionCall, statelessCall } from "./http.ts";

/**
 * MCP clients that wait for their turn, all in one process: `session|stateless ORIGIN COUNT`. Each client has a seat in a separate game whose first
 * player never joins. The clients begin to wait on the IPC message `wait`. Every message is answered with the number of waiting clients.
 */
const [kind, origin = "", count = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());

const PATH = "/mcp";
const GAME = "connect_four.v1";
/** The number of clients that connect at the same time. A server's queue of new connections is short. */
const GROUP_SIZE = 50;
/** The longest time that a call may wait. */
const WAIT_S = 30;

const pool = new Pool(origin, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let waitingCount = 0;

interface Seat {
  readonly game_id: string;
  readonly seat_token: string;
}

async function createGame(): Promise<Seat> {
  const args = { template: GAME, play_as: findGame(GAME)?.roles[1], opponent: "agent" };
  const { text } = await post(pool, plainCall(PATH, "createGame", args));
  const { game_id, seat_token } = JSON.parse(text).result.structuredContent;
  return { game_id, seat_token };
}

/** Sends the call that waits; resolves without its answer. A session also has an event stream, as clients of the SDK open it. */
async function wait(seat: Seat, timeout_s: number): Promise<void> {
  const name = "waitForNextTurn";
  const args = { ...seat, timeout_s };
  const call =
    kind === "session" ? sessionCall(PATH, await openSession(), name, args) : statelessCall(PATH, name, args);
  waitingCount++;
  post(pool, call).then(
    ({ text }) => {
      waitingCount--;
      if (!text.includes("waiting_for_opponent")) throw new Error(`the call did not wait: ${text}`);
    },
    () => {}, // the server has been stopped
  );
}

/** Opens a session with its event stream. Returns the id of the session. */
async function openSession(): Promise<string> {
  const { session } = await post(pool, initialize(PATH));
  await post(pool, initialized(PATH, session));
  await listen(pool, PATH, session);
  return session;
}

/** Runs a function for each item, with at most `GROUP_SIZE` calls at the same time. Returns the results in order. */
async function inGroups<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += GROUP_SIZE) {
    results.push(...(await Promise.all(items.slice(from, from + GROUP_SIZE).map(run))));
  }
  return results;
}

const seats = await inGroups(Array.from({ length: Number(count) }), createGame);
// The server loads modules on first use; this memory must not count for the clients.
await inGroups(seats.slice(0, GROUP_SIZE), (seat) => wait(seat, 0));
process.on("message", async (question) => {
  if (question === "wait") await inGroups(seats, (seat) => wait(seat, WAIT_S));
  process.send?.(waitingCount);
});
process.send?.({ type: "ready", url: "" });
