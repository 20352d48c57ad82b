import { expect, test } from "vitest";
import { faultOfSender } from "./senders.ts";

test("a message comes from the type of agent that sends its type", () => {
  expect(faultOfSender("MOVE_REQUEST", "referee:REF01")).toBeNull();
  expect(faultOfSender("MOVE_REQUEST", "player:P01")).toBe(
    "MOVE_REQUEST must come from a referee, not from player:P01",
  );
  expect(faultOfSender("ROUND_START", "league_managers:LM01")).toContain("must come from a league_manager");
});

test("errors, acknowledgements and requests for tools may come from any agent", () => {
  for (const sender of ["player:P01", "referee:REF01", "league_manager:LM01"]) {
    for (const type of ["GAME_ERROR", "ACK", "GET_STANDINGS"] as const) expect(faultOfSender(type, sender)).toBeNull();
  }
});
