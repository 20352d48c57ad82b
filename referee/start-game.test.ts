import { afterEach, beforeEach, expect, it } from "vitest";
import { signed, startTestReferee, type TestReferee } from "./testing/match.ts";

/** P01 never answers in matches R…, so these matches last until the referee stops. */
let referee: TestReferee;
beforeEach(async () => {
  const noAnswer = Promise.withResolvers<never>().promise;
  referee = await startTestReferee({
    player: ({ type, to, payload }) =>
      type === "MOVE_REQUEST" && to === "P01" && payload.match_id.startsWith("R") ? noAnswer : null,
  });
});
afterEach(() => referee.stop());

const documented = (match_id: string) => ({ player1_id: "P01", player2_id: "P02", match_id });

it("start_game with only the documented arguments reports the unknown endpoints and the arguments to give", async () => {
  const auth_token = signed("friendly/F1");
  const rejected = await referee.tool("start_game", { ...documented("F1"), auth_token });
  expect(rejected).toMatchObject({ isError: true, error_code: "G003", retryable: true });
  expect(rejected.message).toBe(
    "player1_endpoint: P01 has no match under way here, so its endpoint is unknown; player2_endpoint: P02 has no match under way here, so its endpoint is unknown. Give player1_endpoint and player2_endpoint, e.g. http://127.0.0.1:8101/mcp",
  );
  expect(referee.received.filter(({ type }) => type === "GAME_INVITE")).toEqual([]);
});

it("start_game takes the endpoints of players from the matches under way and creates the seed and the tokens", async () => {
  await referee.begin();
  await referee.waitFor("P01", "MOVE_REQUEST");
  const auth_token = signed("friendly/F1");
  const started = await referee.tool("start_game", { ...documented("F1"), game: "rps.v1", auth_token });
  expect(started).toMatchObject({ status: "ACCEPTED", match_id: "F1" });
  expect((await referee.waitFor("manager", "MATCH_RESULT", "F1")).payload).toMatchObject({ winner: "P01", faults: [] });
});

it("start_game with the documented arguments of a match under way returns its session", async () => {
  const { payload } = await referee.begin();
  await referee.waitFor("P01", "MOVE_REQUEST");
  const again = await referee.tool("start_game", { ...documented("R1M1"), auth_token: signed("rps/R1M1") });
  expect(again).toMatchObject({ status: "ACCEPTED", session_id: payload.session_id });
});

it("start_game with the documented arguments of a completed match returns its session", async () => {
  const { player_1, player_2 } = referee.order().roles;
  const endpoints = { player1_endpoint: player_1?.endpoint, player2_endpoint: player_2?.endpoint };
  const request = { ...documented("F1"), ...endpoints, game: "rps.v1", auth_token: signed("friendly/F1") };
  const { session_id } = await referee.tool("start_game", request);
  await referee.waitFor("P02", "GAME_RESULT", "F1");
  expect(await referee.tool("start_game", request)).toMatchObject({ status: "ACCEPTED", session_id });
});

it("orders that arrive together do not exceed the limit of matches, and a repeated order is not counted twice", async () => {
  const matches = ["R1M1", "R1M2", "R1M3", "R1M4", "R1M5", "R1M6"];
  const replies = await Promise.all(matches.map((match_id) => referee.begin({ match_id })));
  expect(replies.map(({ type, payload }) => payload.error_code ?? type)).toEqual([
    ...Array(4).fill("START_GAME_RESPONSE"),
    ...Array(2).fill("G005"),
  ]);
  const again = await Promise.all(["R1M1", "R1M1"].map((match_id) => referee.begin({ match_id })));
  const session_id = replies[0].payload.session_id;
  expect(again.map(({ payload }) => payload.session_id)).toEqual([session_id, session_id]);
});

it.each([{}, { player1_id: "P01", player2_id: "P02" }, { roles: {} }])(
  "start_game %j is rejected with the arguments that it takes",
  async (args) => {
    const { code, data } = await referee.tool("start_game", args);
    expect([code, data.faults[0].message]).toEqual([
      -32602,
      "give player1_id, player2_id and match_id, or the complete order with roles as the league manager sends it",
    ]);
  },
);
