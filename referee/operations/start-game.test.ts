import { afterEach, beforeEach, expect, it } from "vitest";
import { signed, startTable, type Table } from "../testing/match.ts";

/** P01 never answers in matches of the league, so these are played until the referee stops. */
let table: Table;
beforeEach(async () => {
  const isAsked = Promise.withResolvers<never>().promise;
  table = await startTable({
    player: ({ type, to, payload }) =>
      type === "MOVE_REQUEST" && to === "P01" && payload.match_id.startsWith("R") ? isAsked : null,
  });
});
afterEach(() => table.stop());

const documented = (match_id: string) => ({ player1_id: "P01", player2_id: "P02", match_id });

it("start_game with the documented arguments alone says which endpoints are unknown and what to give", async () => {
  const auth_token = signed("friendly/F1");
  const refused = await table.tool("start_game", { ...documented("F1"), auth_token });
  expect(refused).toMatchObject({ isError: true, error_code: "G003", retryable: true });
  expect(refused.message).toBe(
    "player1_endpoint: P01 plays no match here now, so its endpoint is unknown; player2_endpoint: P02 plays no match here now, so its endpoint is unknown. Give player1_endpoint and player2_endpoint, e.g. http://127.0.0.1:8101/mcp",
  );
  expect(table.heard.filter(({ type }) => type === "GAME_INVITE")).toEqual([]);
});

it("start_game looks up the endpoints of players in the matches that are played here, and draws seed and tokens", async () => {
  await table.begin();
  await table.told("P01", "MOVE_REQUEST");
  const auth_token = signed("friendly/F1");
  const started = await table.tool("start_game", { ...documented("F1"), game: "rps.v1", auth_token });
  expect(started).toMatchObject({ status: "ACCEPTED", match_id: "F1" });
  expect((await table.told("manager", "MATCH_RESULT", "F1")).payload).toMatchObject({ winner: "P01", faults: [] });
});

it("start_game with the documented arguments of a match that is played here starts no second one", async () => {
  const { payload } = await table.begin();
  await table.told("P01", "MOVE_REQUEST");
  const again = await table.tool("start_game", { ...documented("R1M1"), auth_token: signed("rps/R1M1") });
  expect(again).toMatchObject({ status: "ACCEPTED", session_id: payload.session_id });
});

it("start_game with the documented arguments of a match that is over starts no second one", async () => {
  const { player_1, player_2 } = table.order().roles;
  const endpoints = { player1_endpoint: player_1?.endpoint, player2_endpoint: player_2?.endpoint };
  const asked = { ...documented("F1"), ...endpoints, game: "rps.v1", auth_token: signed("friendly/F1") };
  const { session_id } = await table.tool("start_game", asked);
  await table.told("P02", "GAME_RESULT", "F1");
  expect(await table.tool("start_game", asked)).toMatchObject({ status: "ACCEPTED", session_id });
});

it("orders that arrive together do not exceed the places of a referee, and the same order again takes none", async () => {
  const matches = ["R1M1", "R1M2", "R1M3", "R1M4", "R1M5", "R1M6"];
  const replies = await Promise.all(matches.map((match_id) => table.begin({ match_id })));
  expect(replies.map(({ type, payload }) => payload.error_code ?? type)).toEqual([
    ...Array(4).fill("START_GAME_RESPONSE"),
    ...Array(2).fill("G005"),
  ]);
  const again = await Promise.all(["R1M1", "R1M1"].map((match_id) => table.begin({ match_id })));
  const session_id = replies[0].payload.session_id;
  expect(again.map(({ payload }) => payload.session_id)).toEqual([session_id, session_id]);
});

it.each([{}, { player1_id: "P01", player2_id: "P02" }, { roles: {} }])(
  "start_game %j says which arguments it takes",
  async (args) => {
    const { code, data } = await table.tool("start_game", args);
    expect([code, data.faults[0].message]).toEqual([
      -32602,
      "give player1_id, player2_id and match_id, or the complete order with roles as the league manager sends it",
    ]);
  },
);
