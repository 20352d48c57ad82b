import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { afterEach, expect, it } from "vitest";
import type { ClockState } from "#shared/lib/time-control.ts";
import { timeLeft } from "#shared/session/clocks.ts";
import { sessionOf } from "../sessions/host.ts";
import { askForMove } from "./play-match.ts";
import { startTestMatch } from "./testing/test-match.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The positions in the memory that the threads share. */
const [RECEIVED, MAY_ANSWER, ANSWERED, NEVER] = [0, 1, 2, 3];

/**
 * A player in another thread, which can be called by POST and over a WebSocket. It answers the first request with an illegal action when it may, and
 * the next one with rock at once.
 */
const PLAYER = `
const { createServer } = require("node:http");
const { parentPort, workerData: memory } = require("node:worker_threads");
const { WebSocketServer } = require("ws");
const requests = [];
async function onRequest(text, transport, send) {
  const { id, params } = JSON.parse(text);
  const asked = params.arguments;
  requests.push({ transport, lastRoundTripMs: asked.payload.last_round_trip_ms });
  if (requests.length === 1) {
    Atomics.store(memory, ${RECEIVED}, 1);
    Atomics.notify(memory, ${RECEIVED});
    await Atomics.waitAsync(memory, ${MAY_ANSWER}, 0).value;
  }
  const move = requests.length === 1 ? "well" : "rock";
  const { match_id, tick } = asked.payload;
  const answer = { protocol: "league.v2", type: "MOVE_RESPONSE", message_id: crypto.randomUUID(), sender: "player:P01",
    timestamp: new Date().toISOString(), payload: { match_id, tick, move }, correlation_id: asked.message_id };
  send(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: JSON.stringify(answer) }] } }), () => {
    Atomics.store(memory, ${ANSWERED}, 1);
    Atomics.notify(memory, ${ANSWERED});
  });
}
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  await onRequest(text, "POST", (answer, onSent) => response.end(answer, onSent));
});
new WebSocketServer({ server }).on("connection", (socket) =>
  socket.on("message", (text) => onRequest(text, "WebSocket", (answer, onSent) => socket.send(answer, onSent))));
parentPort.on("message", () => parentPort.postMessage(requests));
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const LIMIT_MS = 2_000;

it.each([
  { transport: "POST", offersWebSocket: false },
  { transport: "WebSocket", offersWebSocket: true },
])("a player is not charged for the time for which its answer by $transport waits in a busy referee", async (way) => {
  const { transport, offersWebSocket } = way;
  const memory = new Int32Array(new SharedArrayBuffer(16));
  const player = new Worker(PLAYER, { eval: true, workerData: memory });
  ends.push(() => player.terminate());
  const [port] = await once(player, "message");
  const clock = { initial_ms: LIMIT_MS, increment_ms: 0 };
  const { driver, match, sessionId, close } = await startTestMatch({ clock, moveMs: LIMIT_MS });
  ends.push(close);
  const asked = match.players.find(({ playerId }) => playerId === "P01");
  if (!asked) throw new Error("P01 is not in the match");

  const sentAt = performance.now();
  const endpoint = `http://127.0.0.1:${port}/mcp`;
  const acted = askForMove(driver, match, sessionOf(driver, sessionId), { ...asked, endpoint, offersWebSocket });
  await Atomics.waitAsync(memory, RECEIVED ?? 0, 0).value;
  // From here the player answers at once, and the referee is busy for longer than the time limit of the turn.
  const busyFrom = performance.now();
  Atomics.store(memory, MAY_ANSWER ?? 0, 1);
  Atomics.notify(memory, MAY_ANSWER ?? 0);
  Atomics.wait(memory, ANSWERED ?? 0, 0);
  Atomics.wait(memory, NEVER ?? 0, 0, LIMIT_MS);

  expect(await acted).toMatchObject({ ok: true });
  const chargedMs = LIMIT_MS - timeLeft(sessionOf(driver, sessionId).clocks as ClockState, asked.role);
  player.postMessage("requests");
  const [[first, second]] = await once(player, "message");
  expect([first.transport, second.transport]).toEqual([transport, transport]);
  // With the time for which the answer waited, both would be larger by LIMIT_MS or more.
  expect(second.lastRoundTripMs).toBeLessThan(busyFrom - sentAt + LIMIT_MS / 2);
  expect(chargedMs).toBeLessThan(busyFrom - sentAt + LIMIT_MS / 2);
});
