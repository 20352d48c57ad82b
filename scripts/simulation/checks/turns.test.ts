import { expect, it } from "vitest";
import { createTurns } from "./turns.ts";

const MATCH = { match_id: "R1M1", epoch: 1 };
const TURN = { ...MATCH, your_role: "x", tick: 0 };
const envelope = (type: string, payload: object, sender = "referee:REF01") => ({
  id: 1,
  type,
  sender,
  payload: payload as Record<string, unknown>,
});

it.each([
  ["the first", "a1", 0],
  ["the second", "b2", 0],
  ["another move than each", "c3", 1],
])("a log has %s of two answers to a request that has arrived twice", (_, action, count) => {
  const turns = createTurns();
  turns.onRequest(envelope("GAME_INVITE", { ...TURN, roles: { x: "P01" } }));
  const request = envelope("MOVE_REQUEST", { ...TURN, error: { error_code: "G001" } });
  turns.onRequest(request);
  turns.onRequest(request);
  for (const move of ["a1", "b2"])
    turns.onAnswer("player 1", request, envelope("MOVE_RESPONSE", { ...MATCH, tick: 0, move }, "player:P01"));
  const log = [JSON.stringify({ type: "acted", role: "x", action })];
  expect(turns.onReport(envelope("MATCH_RESULT", { ...MATCH, log }))).toHaveLength(count);
});
