import { expect, it } from "vitest";
import { planOf } from "../random-plan.ts";
import { createDeadlines } from "./deadlines.ts";

const PLAN = { ...planOf("1"), disturbances: [] };
const MATCH = { match_id: "R1M1", epoch: 1 };
const envelope = (type: string, payload: object, message_id = "") => ({
  id: 1,
  type,
  sender: "",
  message_id,
  payload: { ...MATCH, ...payload },
});
const request = (time_limit_seconds: number, messageId: string, tick = 0) =>
  envelope("MOVE_REQUEST", { your_role: "x", tick, time_limit_seconds }, messageId);
const report = (...log: readonly object[]) =>
  envelope("MATCH_RESULT", { log: log.map((entry) => JSON.stringify(entry)) });

it("a repeated request has the rest of the time", () => {
  let now = 0;
  const deadlines = createDeadlines(PLAN, () => now);
  expect(deadlines.onRequest("referee 1", "player 1", request(30, "a"), 0)).toEqual([]);
  now = 4_000;
  deadlines.onAnswer("referee 1", request(30, "a"), envelope("GAME_ERROR", {}));
  expect(deadlines.onRequest("referee 1", "player 1", request(30, "a"), 4_000)).toEqual([]);
  expect(deadlines.onRequest("referee 1", "player 1", request(26, "b"), 4_000)).toEqual([]);
  expect(deadlines.onRequest("referee 1", "player 1", request(30, "c"), 4_000)).toHaveLength(1);
});

it.each([
  [30_000, 0],
  [30_001, 1],
])("a move that is sent after %d ms of 30 s has %d faults in the log", (sentAt, count) => {
  const deadlines = createDeadlines(PLAN, () => sentAt);
  deadlines.onRequest("referee 1", "player 1", request(30, "a"), 0);
  deadlines.onAnswer("referee 1", request(30, "a"), envelope("MOVE_RESPONSE", { move: 1 }));
  const acted = { type: "acted", role: "x", tick: 0, action: 1 };
  expect(deadlines.onRequest("referee 1", "player 1", report(acted), sentAt)).toHaveLength(count);
});

it("a turn ends after its limit, and begins again with the referee", () => {
  const late = (isRestarted: boolean) => {
    const deadlines = createDeadlines(PLAN, () => 0);
    deadlines.onRequest("referee 1", "player 1", request(30, "a"), 0);
    if (isRestarted) deadlines.onProcess("referee 1");
    return deadlines.onRequest("referee 1", "player 1", request(30, "b", 1), 60_000);
  };
  expect(late(false)).toHaveLength(1);
  expect(late(true)).toEqual([]);
});
