import { Pool } from "undici";
import { findGame } from "#shared/games/registry.ts";
import { initialize, initialized, listen, plainCall, post, sessionCall, statelessCall } from "./http.ts";

/**
 * MCP clients that wait for their turn, all in one process: `session|stateless ORIGIN COUNT`. Each has a seat in a game of its
 * own, whose first player never comes. They begin to wait when asked to `wait`; whatever it is asked, it tells how many wait.
 */
const [kind, origin = "", count = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());

const PATH = "/mcp";
const GAME = "connect_four.v1";
/** So many are opened at a time: a server's queue of new connections is short. */
const AT_ONCE = 50;
/** The longest that a call may wait. */
const WAIT_S = 30;

const pool = new Pool(origin, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
let waiting = 0;

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

/** Resolves when the call is on its way. A session has a stream besides, as the SDK's clients open it. */
async function wait(seat: Seat, timeout_s: number): Promise<void> {
  const name = "waitForNextTurn";
  const args = { ...seat, timeout_s };
  const call = kind === "session" ? sessionCall(PATH, await begin(), name, args) : statelessCall(PATH, name, args);
  waiting++;
  post(pool, call).then(
    ({ text }) => {
      waiting--;
      if (!text.includes("waiting_for_opponent")) throw new Error(`did not wait: ${text}`);
    },
    () => {}, // the server has been stopped
  );
}

async function begin(): Promise<string> {
  const { session } = await post(pool, initialize(PATH));
  await post(pool, initialized(PATH, session));
  await listen(pool, PATH, session);
  return session;
}

async function inGroups<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    done.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(run))));
  }
  return done;
}

const seats = await inGroups(Array.from({ length: Number(count) }), createGame);
// What the server loads when it is first used is in neither figure.
await inGroups(seats.slice(0, AT_ONCE), (seat) => wait(seat, 0));
process.on("message", async (question) => {
  if (question === "wait") await inGroups(seats, (seat) => wait(seat, WAIT_S));
  process.send?.(waiting);
});
process.send?.({ type: "ready", url: "" });
