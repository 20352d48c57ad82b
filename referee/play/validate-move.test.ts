import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { tool, twoSeats } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const validate = async (match_id: string, player_id: string, move: unknown) =>
  (await tool(host, "validate_move", { match_id, player_id, move })).value;

it("validate_move checks moves by role in a game of createGame, also in SAN, without making them", async () => {
  const [white] = await twoSeats(host, "chess");
  for (const move of ["e2e4", "e4", "Nf3"]) {
    expect(await validate(white.gameId, "white", move)).toMatchObject({ valid: true, reason: null, role: "white" });
  }
  expect(await validate(white.gameId, "white", "Nd4")).toMatchObject({ valid: false, reason: expect.any(String) });
  expect(await validate(white.gameId, "black", "e5")).toMatchObject({ valid: false, reason: "Not your turn" });
  expect((await white.wait()).value.tick).toBe(0);
});

it("validate_move answers the same whether a role has sealed its choice or not", async () => {
  const [one, two] = await twoSeats(host, "rps");
  await one.move("rock");
  for (const move of ["paper", "lizard"]) {
    const { valid, reason } = await validate(one.gameId, two.role, move);
    expect(await validate(one.gameId, one.role, move)).toMatchObject({ valid, reason });
  }
});

it("validate_move names the roles of a game if player_id is not one of them", async () => {
  const [white] = await twoSeats(host, "chess");
  const rejected = await tool(host, "validate_move", { match_id: white.gameId, player_id: "red", move: "e4" });
  expect([rejected.isError, rejected.text]).toEqual([true, expect.stringContaining("white and black")]);
});

it("validate_move without match_id reports the arguments to give", async () => {
  const rejected = await tool(host, "validate_move", { player_id: "white", move: "e4" });
  expect([rejected.isError, rejected.text]).toEqual([true, expect.stringContaining("give match_id (its game_id)")]);
});
