import { afterEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { type SessionHost, sessionOf } from "../sessions/host.ts";
import type { ReceivedMessage } from "../testing/match.ts";
import { askForMove, type DrivenMatch, MatchWithdrawn } from "./play-match.ts";
import { publishedFault, type SeatedPlayer } from "./player-messages.ts";
import { startTestMatch } from "./testing/test-match.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const replyWith = (type: "GAME_ERROR" | "MOVE_RESPONSE", payload: object) => newEnvelope(type, "player:P01", payload);
const unknownMatch = () => replyWith("GAME_ERROR", { error_code: "G003", message: "unknown match" });
const move = (action: unknown, more: object = {}) =>
  replyWith("MOVE_RESPONSE", { match_id: "R1M1", tick: 4, move: action, ...more });

/**
 * Asks P01 for its move in the third turn of a match of rock-paper-scissors. `answer` answers each MOVE_REQUEST. Resolves with the result, the
 * submitted actions, the time limits of the requests in ms and the numbers of requests and invitations.
 */
async function ask(
  answer: (request: ReceivedMessage) => object | Promise<object>,
  { limitMs = 5_000, signal = new AbortController().signal, submitted = [] as unknown[] } = {},
) {
  const test = await startTestMatch({
    answers: { player: (message) => (message.type === "MOVE_REQUEST" ? answer(message) : null) },
    options: { best_of: 5 },
    moveMs: limitMs,
  });
  ends.push(() => test.close());
  const { league, host, sessionId } = test;
  for (const [role, action] of [...TWO_TURNS, ...TWO_TURNS])
    await host.submit(sessionId, { role, action, expectedTick: null });
  const recording: SessionHost = {
    ...host,
    submit(id, submission) {
      submitted.push(submission.action);
      return host.submit(id, submission);
    },
  };
  const driver = { ...test.driver, host: recording };
  const match: DrivenMatch = { ...test.match, signal, closedRounds: 2 };
  const player = match.players[0] as SeatedPlayer;
  const acted = await askForMove(driver, match, sessionOf(driver, sessionId), player);
  const result = acted.ok ? ok(acted.value.tick) : err(publishedFault(acted.error, player.matchToken));
  const requests = league.received.filter(({ type }) => type === "MOVE_REQUEST");
  const limitsMs = requests.map(({ payload }) => payload.time_limit_seconds * 1_000);
  const invitationCount = league.received.filter(({ type }) => type === "GAME_INVITE").length;
  return { result, submitted, limitsMs, requestCount: requests.length, invitationCount };
}
const TWO_TURNS = [
  ["player_1", "rock"],
  ["player_2", "rock"],
] as const;

/** Gives the answers one after the other, and repeats the last one. */
const inTurn = (answers: (() => object)[]) => (): object =>
  (answers.length > 1 ? answers.shift() : answers[0])?.() ?? {};

it("a restarted player is invited again and still has three answers", async () => {
  const answers = [unknownMatch, () => move("spock"), () => move("lizard"), () => move("rock")];
  const { result, submitted, requestCount, invitationCount } = await ask(inTurn(answers));
  expect(result).toEqual(ok(5));
  expect([submitted, requestCount, invitationCount]).toEqual([["spock", "lizard", "rock"], 4, 1]);
});

it("a player that never knows the match is invited ten times in a turn and then forfeits for its answers", async () => {
  const { result, submitted, requestCount, invitationCount } = await ask(unknownMatch);
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply" } });
  expect([submitted, requestCount, invitationCount]).toEqual([[], 13, 10]);
});

it.each([
  ["the bot threw an error", "the bot threw an error"],
  ["x".repeat(300), "x".repeat(200)],
  [null, "no action, and no message"],
])("a player that answers with an error forfeits for the error of its bot (%#)", async (message, detail) => {
  const { result, requestCount } = await ask(() => replyWith("GAME_ERROR", { error_code: "G001", message }));
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bot_error", detail } });
  expect(requestCount).toBe(3);
});

it.each([
  ["another match", { match_id: "R1M2" }],
  ["an earlier tick", { tick: 3 }],
  ["a later tick", { tick: 5 }],
])("an answer for %s is not accepted, even with a legal move", async (_, more) => {
  const { result, submitted, requestCount } = await ask(() => move("rock", more));
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply" } });
  expect([submitted, requestCount]).toEqual([[], 3]);
});

it.each([
  ["from another player", { sender: "player:P02" }, "the sender of MOVE_RESPONSE is player:P02, not player:P01"],
  ["from a referee", { sender: "referee:P01" }, "MOVE_RESPONSE must come from a player, not from referee:P01"],
  ["to another request", { correlation_id: "another" }, "the answer's correlation_id is another, and"],
])("an answer %s is not accepted, even with a legal move, and the fault states the reason", async (_, more, reason) => {
  const { result, submitted, requestCount } = await ask(() => ({ ...move("rock"), ...more }));
  const detail = expect.stringContaining(reason);
  expect(result).toMatchObject({ ok: false, error: { code: "G001", cause: "bad_reply", detail } });
  expect([submitted, requestCount]).toEqual([[], 3]);
});

it("one deadline covers all answers of a turn: the second request has the remaining time", async () => {
  // The test waits for this limit. The first answer must come within it, also on a slow machine.
  const LIMIT_MS = 1_500;
  const silent = new Promise<never>(() => {});
  const thinking = async () => {
    await systemClock.pause(20);
    return move("lizard");
  };
  const { result, submitted, limitsMs } = await ask(({ payload }) => (payload.error ? silent : thinking()), {
    limitMs: LIMIT_MS,
  });
  expect([submitted, limitsMs.length]).toEqual([["lizard"], 2]);
  expect(limitsMs[1]).toBeLessThan(LIMIT_MS);
  const detail = `no answer within ${Math.round(limitsMs[1] ?? 0)} ms`;
  expect(result).toEqual(err({ code: "G002", cause: "timeout", detail }));
});

it("an answer that arrives after the match was withdrawn is not submitted", async () => {
  const withdrawal = new AbortController();
  const submitted: unknown[] = [];
  const answer = () => {
    withdrawal.abort();
    return move("rock");
  };
  await expect(ask(answer, { signal: withdrawal.signal, submitted })).rejects.toThrow(MatchWithdrawn);
  expect(submitted).toEqual([]);
});

it.each([0, 1, 2])("the answer in a fault is cut to 2,000 bytes between characters (%i)", async (shift) => {
  const { result } = await ask(() => replyWith("GAME_ERROR", { message: "x".repeat(shift), more: "☃".repeat(1_000) }));
  const { raw = "" } = result.ok ? {} : result.error;
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(2_000);
  expect(Buffer.byteLength(raw)).toBeGreaterThan(1_997);
  expect(raw).toMatch(/☃$/);
});
