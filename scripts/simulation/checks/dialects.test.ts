import { expect, it } from "vitest";
import type { Plan } from "../plan.ts";
import { createDialects } from "./dialects.ts";

const PLAN: Plan = {
  seed: "test",
  game: { id: "even_odd.v1", options: {} },
  referees: 1,
  players: ["well", "well"],
  contacts: ["handle message"],
  disturbances: [],
  withoutSockets: [],
  managers: 1,
};

/** A player of a dialect that is called for a move with a limit of 10 s at 0 ms, and answers at `answeredAt`. */
function answered(choice: string, answeredAt: number) {
  let now = 0;
  const dialects = createDialects(PLAN, () => now);
  const result = { message_type: "LEAGUE_REGISTER_RESPONSE", player_id: "P01", auth_token: "T" };
  const exchange = (from: string, to: string, message: object, reply: object) => {
    const request = { from, to, body: JSON.stringify({ id: 1, params: { message } }), isOverSocket: false };
    const faults = dialects.onRequest(request, now);
    now = answeredAt;
    dialects.onAnswer(request, JSON.stringify({ id: 1, result: reply }));
    return faults;
  };
  exchange("player 1", "manager", { message_type: "LEAGUE_REGISTER_REQUEST" }, result);
  now = 0;
  const call = { message_type: "CHOOSE_PARITY_CALL", match_id: "R1M1", time_limit_seconds: 10, auth_token: "T" };
  exchange("referee 1", "player 1", { message_type: "GAME_OVER", match_id: "R1M1" }, {});
  now = 0;
  const faults = exchange("referee 1", "player 1", call, { parity_choice: choice });
  return { dialects, faults, exchange };
}

const report = (action: unknown) => {
  const created = { type: "created", participants: { EVEN: "P01@sim/R1M1" } };
  const log = [created, { type: "acted", role: "EVEN", action }].map((entry) => JSON.stringify(entry));
  const payload = { match_id: "R1M1", epoch: 1, termination: "normal", log };
  return { id: 1, type: "MATCH_RESULT", sender: "referee:REF01", payload };
};

it("accepts a number of the parity that the player has chosen", () => {
  const { dialects, faults } = answered("even", 5_000);
  expect(faults).toEqual([]);
  expect(dialects.onReport(report(4))).toEqual([]);
});

it("finds a move that the player has not sent, and one that it has sent too late", () => {
  expect(answered("even", 5_000).dialects.onReport(report(3))).toEqual([
    "moves: R1M1/1/EVEN: the move 3 in the log is not an answer of player 1",
  ]);
  expect(answered("even", 11_000).dialects.onReport(report(4))).toEqual([
    "deadlines: R1M1/1/EVEN: the move 4 was accepted after its limit",
  ]);
});

it("finds a native message and the token of another player", () => {
  const { exchange } = answered("even", 5_000);
  expect(exchange("referee 1", "player 1", { name: "league_message" }, {})).toEqual([
    "dialects: referee 1 sent a native message to player 1",
  ]);
  expect(exchange("manager", "player 1", { message_type: "ROUND_COMPLETED", auth_token: "U" }, {})).toEqual([
    expect.stringContaining("with another token than that of its registration"),
  ]);
});
