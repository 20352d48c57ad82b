import { afterEach, expect, it } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, type SessionHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { type Heard, startOthers, testDriver } from "../testing/match.ts";
import type { Seated } from "./ask.ts";
import { publishedFault } from "./ask-fault.ts";
import { askForMove } from "./ask-move.ts";
import { type Match, MatchWithdrawn, sessionOf } from "./driven-match.ts";
import { seatedPlayers, seatsOf } from "./messages.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const said = (type: "GAME_ERROR" | "MOVE_RESPONSE", payload: object) => newEnvelope(type, "player:P01", payload);
const unknownMatch = () => said("GAME_ERROR", { error_code: "G003", message: "never heard of it" });
const move = (action: unknown, more: object = {}) =>
  said("MOVE_RESPONSE", { match_id: "R1M1", tick: 4, move: action, ...more });

/** Asks P01 for its move in the third turn of a match, in which only rock, paper and scissors are legal. It answers each request as the test determines. */
async function ask(
  answer: (asked: Heard) => object | Promise<never>,
  { limitMs = 5_000, signal = new AbortController().signal, taken = [] as unknown[] } = {},
) {
  const others = await startOthers({ player: (one) => (one.type === "MOVE_REQUEST" ? answer(one) : null) });
  ends.push(() => others.close());
  const peers = createPeers({ clock: systemClock });
  ends.push(() => peers.close());
  const order = others.order({ timeouts: { join_ms: 5_000, move_ms: limitMs, game_over_ms: 5_000 } });
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  const options = rps.options.parse({ best_of: 5 });
  const { id } = await host.create({ game: rps as never, options, seed: order.seed, seats: seatsOf(order) });
  for (const [role, action] of [...TWO_TURNS, ...TWO_TURNS])
    await host.submit(id, { role, action, expectedTick: null });
  const recording: SessionHost = {
    ...host,
    submit(sessionId, submission) {
      taken.push(submission.action);
      return host.submit(sessionId, submission);
    },
  };
  const driver = testDriver(recording, peers);
  const session = sessionOf(driver, id);
  const players = seatedPlayers(order, new AbortController().signal);
  const match: Match = { order, game: session.game, options, players, listeners: [], signal, closedRounds: 2 };
  const player = players[0] as Seated;
  const asked = await askForMove(driver, match, session, player);
  const result = asked.ok ? ok(asked.value.tick) : err(publishedFault(asked.error, player.matchToken));
  const requests = others.heard.filter((one) => one.type === "MOVE_REQUEST");
  const left = requests.map(({ payload }) => payload.time_limit_seconds * 1_000);
  const invited = others.heard.filter((one) => one.type === "GAME_INVITE").length;
  return { result, taken, left, asked: requests.length, invited };
}
const TWO_TURNS = [
  ["player_1", "rock"],
  ["player_2", "rock"],
] as const;

/** Each answer once, the last one for ever. */
const inTurn = (answers: (() => object)[]) => (): object =>
  (answers.length > 1 ? answers.shift() : answers[0])?.() ?? {};

it("a player that was started anew is invited again, and has all its three answers", async () => {
  const answers = [unknownMatch, () => move("spock"), () => move("lizard"), () => move("rock")];
  const { result, taken, asked, invited } = await ask(inTurn(answers));
  expect(result).toEqual(ok(5));
  expect([taken, asked, invited]).toEqual([["spock", "lizard", "rock"], 4, 1]);
});

it("a player that never knows the match is invited ten times within a move, and then loses by its answers", async () => {
  const { result, taken, asked, invited } = await ask(unknownMatch);
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply" } });
  expect([taken, asked, invited]).toEqual([[], 13, 10]);
});

it.each([
  ["another match", { match_id: "R1M2" }],
  ["an earlier tick", { tick: 3 }],
  ["a later tick", { tick: 5 }],
])("an answer to %s is not taken, though its move is legal", async (_, more) => {
  const { result, taken, asked } = await ask(() => move("rock", more));
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply" } });
  expect([taken, asked]).toEqual([[], 3]);
});

it.each([
  ["from another player", { sender: "player:P02" }, "the sender of MOVE_RESPONSE is player:P02, not player:P01"],
  ["from a referee", { sender: "referee:P01" }, "MOVE_RESPONSE must come from a player, not from referee:P01"],
  ["to another request", { correlation_id: "another" }, "the answer's correlation_id is another, and"],
])("%s: the answer is not taken, though its move is legal, and its fault says why", async (_, more, why) => {
  const { result, taken, asked } = await ask(() => ({ ...move("rock"), ...more }));
  const detail = expect.stringContaining(why);
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply", detail } });
  expect([taken, asked]).toEqual([[], 3]);
});

it("one deadline is over all answers of a move: the second has what the first has left of it", async () => {
  const silent = new Promise<never>(() => {});
  const { result, taken, left } = await ask(({ payload }) => (payload.error ? silent : move("lizard")), {
    limitMs: 200,
  });
  expect([taken, left.length]).toEqual([["lizard"], 2]);
  expect(left[1]).toBeLessThan(200);
  const detail = `no answer within ${Math.round(left[1] ?? 0)} ms`;
  expect(result).toEqual(err({ code: "G002", cause: "timeout", detail }));
});

it("an answer that arrives after the match was withdrawn is not submitted", async () => {
  const withdrawal = new AbortController();
  const taken: unknown[] = [];
  const answer = () => {
    withdrawal.abort();
    return move("rock");
  };
  await expect(ask(answer, { signal: withdrawal.signal, taken })).rejects.toThrow(MatchWithdrawn);
  expect(taken).toEqual([]);
});

it.each([0, 1, 2])("what a player said is published up to 2,000 bytes, no character cut in two (%i)", async (shift) => {
  const { result } = await ask(() => said("GAME_ERROR", { message: "x".repeat(shift), more: "☃".repeat(1_000) }));
  const { raw = "" } = result.ok ? {} : result.error;
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(2_000);
  expect(Buffer.byteLength(raw)).toBeGreaterThan(1_997);
  expect(raw).toMatch(/☃$/);
});
