import { expect, test } from "vitest";
import { faultOfSender } from "./envelope.ts";

test("faultOfSender rejects a message from the wrong type of agent", () => {
  expect(faultOfSender("MOVE_REQUEST", "referee:REF01")).toBeNull();
  expect(faultOfSender("MOVE_REQUEST", "player:P01")).toBe(
    "MOVE_REQUEST must come from a referee, not from player:P01",
  );
  expect(faultOfSender("ROUND_START", "league_managers:LM01")).toContain("must come from a league_manager");
});

test("faultOfSender accepts errors, acknowledgements and tool requests from any agent", () => {
  for (const sender of ["player:P01", "referee:REF01", "league_manager:LM01"]) {
    for (const type of ["GAME_ERROR", "ACK", "GET_STANDINGS"] as const) expect(faultOfSender(type, sender)).toBeNull();
  }
});
