import { afterEach, expect, it } from "vitest";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import { createAsker, type MoveQuestion, type Seated } from "./ask.ts";
import { type Heard, startOthers, tokenOf } from "./testing-match.ts";

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const said = (type: "GAME_ERROR" | "MOVE_RESPONSE", payload: object) => newEnvelope(type, "player:P01", payload);
const unknownMatch = () => said("GAME_ERROR", { error_code: "G003", message: "never heard of it" });
const move = (action: unknown, more: object = {}) =>
  said("MOVE_RESPONSE", { match_id: "R1M1", tick: 4, move: action, ...more });

/** Asks P01 for a move of which only "rock" is legal; it answers each request as a test says. */
async function ask(answer: (asked: Heard) => object | Promise<never>, limitMs = 5_000) {
  const others = await startOthers({ player: (one) => (one.type === "MOVE_REQUEST" ? answer(one) : null) });
  ends.push(() => others.close());
  const peers = createPeers();
  ends.push(() => peers.close());
  const endpoint = others.order().roles.player_1?.endpoint ?? "";
  const player: Seated = {
    ...{ playerId: "P01", role: "player_1", endpoint, matchToken: tokenOf("P01", "R1M1") },
    ...{ wantsLegalActions: false, wantsRoundResults: false, takesBatches: false },
    signal: new AbortController().signal,
  };
  const taken: unknown[] = [];
  const left: number[] = [];
  const question: MoveQuestion = {
    ...{ matchId: "R1M1", tick: 4, limitMs },
    payload(error, leftMs) {
      left.push(leftMs);
      return { match_id: "R1M1", tick: 4, error };
    },
    invitation: () => ({ match_id: "R1M1" }),
    async accept(action) {
      taken.push(action);
      return action === "rock" ? ok(null) : err("not rock");
    },
  };
  const result = await createAsker(peers, () => "referee:REF01").move(player, question);
  const count = (type: string): number => others.heard.filter((one) => one.type === type).length;
  return { result, taken, left, asked: count("MOVE_REQUEST"), invited: count("GAME_INVITE") };
}

/** Each answer once, the last one for ever. */
const inTurn = (answers: (() => object)[]) => (): object =>
  (answers.length > 1 ? answers.shift() : answers[0])?.() ?? {};

it("a player that was started anew is invited again, and has all its three answers", async () => {
  const answers = [unknownMatch, () => move("paper"), () => move("lizard"), () => move("rock")];
  const { result, taken, asked, invited } = await ask(inTurn(answers));
  expect(result).toEqual(ok(null));
  expect([taken, asked, invited]).toEqual([["paper", "lizard", "rock"], 4, 1]);
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
  const { result, taken, left } = await ask(({ payload }) => (payload.error ? silent : move("paper")), 200);
  expect([taken, left.length]).toEqual([["paper"], 2]);
  expect(left[1]).toBeLessThan(200);
  const detail = `no answer within ${Math.round(left[1] ?? 0)} ms`;
  expect(result).toEqual(err({ code: "G002", cause: "timeout", detail }));
});

it.each([0, 1, 2])("what a player said is published up to 2,000 bytes, no character cut in two (%i)", async (shift) => {
  const { result } = await ask(() => said("GAME_ERROR", { message: "x".repeat(shift), more: "☃".repeat(1_000) }));
  const { raw = "" } = result.ok ? {} : result.error;
  expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(2_000);
  expect(Buffer.byteLength(raw)).toBeGreaterThan(1_997);
  expect(raw).toMatch(/☃$/);
});
