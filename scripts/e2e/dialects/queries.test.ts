import { expect, onTestFinished, test } from "vitest";
import { foreignPlayer, type Json, postJson, usualAnswer } from "../../testing/foreign-player.ts";
import { startTestLeague, type TestPlayer } from "../../testing/in-process-league.ts";

const QUERY = { protocol: "league.v2", message_type: "LEAGUE_QUERY", sender: "player:P01" };

/** Posts a message of Ann, P01, to the manager. Resolves with the body of the response. */
const send = (manager: string, params: Json): Promise<Json> =>
  postJson(manager, { jsonrpc: "2.0", id: 1, method: params.message_type.toLowerCase(), params });

/** Starts a league of even/odd with Ann and native bots. */
async function startLeague(ann: TestPlayer, ...bots: readonly string[]) {
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
    players: [ann, ...bots.map((name) => ({ name, bot: "random" }))],
  });
  onTestFinished(() => league.stop());
  return league;
}

test("GET_SCHEDULE, GET_NEXT_MATCH and GET_PLAYER_STATS are answered during and after a league", async () => {
  const managerOf = Promise.withResolvers<string>();
  const ask = async (token: string, query_type: string, query_params?: Json) => {
    const { result } = await send(await managerOf.promise, { ...QUERY, auth_token: token, query_type, query_params });
    return result;
  };
  const during: Json[] = [];
  const ann = foreignPlayer({
    name: "Ann",
    async answer(message, self) {
      if (message.message_type === "CHOOSE_PARITY_CALL" && during.length === 0) {
        during.push(await ask(self.token, "GET_SCHEDULE"), await ask(self.token, "GET_NEXT_MATCH"));
        during.push(await ask(self.token, "GET_NEXT_MATCH", { player_id: "P03" }));
      }
      return usualAnswer(message, self);
    },
  });
  const league = await startLeague(ann, "Bob", "Cid");
  managerOf.resolve(league.manager);
  const { leagues } = await league.completed;
  const { token } = ann.player;

  const referee_endpoint = league.refereeUrls[0];
  const [first, second, third] = [
    { match_id: "R1M1", round_id: 1, game_type: "even_odd", player_A_id: "P02", player_B_id: "P03", referee_endpoint },
    { match_id: "R2M1", round_id: 2, game_type: "even_odd", player_A_id: "P01", player_B_id: "P02", referee_endpoint },
    { match_id: "R3M1", round_id: 3, game_type: "even_odd", player_A_id: "P03", player_B_id: "P01", referee_endpoint },
  ].map((match) => ({ ...match, status: "completed" }));
  const [open, later] = [
    { ...second, status: "assigned" },
    { ...third, status: "scheduled", referee_endpoint: null },
  ];
  expect(during).toMatchObject([
    { success: true, query_type: "GET_SCHEDULE", data: { schedule: [first, open, later] } },
    { success: true, query_type: "GET_NEXT_MATCH", data: { next_match: { ...open, opponent_id: "P02" } } },
    { success: true, query_type: "GET_NEXT_MATCH", data: { next_match: { ...later, opponent_id: "P01" } } },
  ]);

  expect((await ask(token, "GET_SCHEDULE")).data).toMatchObject({ schedule: [first, second, third] });
  expect(await ask(token, "GET_NEXT_MATCH")).toMatchObject({ success: true, data: { next_match: null } });
  const statsOf = (id: string) => leagues[0]?.standings.find(({ player_id }) => player_id === id);
  const { rank, points } = statsOf("P01") ?? {};
  const own = { player_id: "P01", display_name: "Ann", played: 2, rank, points };
  expect(await ask(token, "GET_PLAYER_STATS")).toMatchObject({ success: true, data: { stats: own } });
  const other = { player_id: "P03", display_name: "Cid", played: 2, points: statsOf("P03")?.points };
  expect((await ask(token, "GET_PLAYER_STATS", { player_id: "P03" })).data).toMatchObject({ stats: other });
  expect(await ask(token, "GET_WEATHER")).toMatchObject({
    success: false,
    error: "query_type: GET_WEATHER is not one of GET_STANDINGS, GET_SCHEDULE, GET_NEXT_MATCH, GET_PLAYER_STATS",
  });
});

test("a query is answered, and a wrong message with an error of the classroom or with one that names the dialects", async () => {
  const ann = foreignPlayer({ name: "Ann", endpoint: (port) => `http://localhost:${port}` });
  const answers: Json[] = [];
  const league = await startLeague(ann, "Bob");
  await league.completed;
  const auth_token = ann.player.token;
  for (const more of [
    { auth_token },
    {},
    { auth_token: "tok-invalid" },
    { auth_token, sender: "player:P99" },
    { auth_token, timestamp: "yesterday" },
    { message_type: "LEAGUE_REGISTER_REQUEST", player_meta: { display_name: "Eve" } },
    { protocol: "league.v9" },
    { message_type: "DANCE", sender: "player:P99" },
  ]) {
    answers.push(await send(league.manager, { ...QUERY, query_type: "GET_STANDINGS", ...more }));
  }
  expect(answers[0].result).toMatchObject({ success: true, data: { standings: [{ rank: 1 }, { played: 1 }] } });
  const codes = answers.slice(1, 6).map(({ result }) => [result.message_type, result.error_code]);
  expect(codes).toEqual(["E011", "E012", "E005", "E021", "E003"].map((code) => ["LEAGUE_ERROR", code]));
  const unknown = answers.slice(6).map(({ error }) => error);
  expect(unknown.map(({ message }) => message.includes("league.v1 and classroom"))).toEqual([true, true]);
  const version = { error_code: "E018", error_description: "PROTOCOL_VERSION_MISMATCH" };
  const about = { dialects: ["native", "league.v1", "classroom"] };
  expect(unknown.map(({ data }) => data)).toEqual([
    { ...about, ...version, field: "protocol", original_message_type: "LEAGUE_QUERY" },
    { ...about, field: "message_type", original_message_type: "DANCE" },
  ]);
  // The token of a dialect authenticates no native message.
  const args = { player_id: "P02", auth_token };
  const removed = await postJson(league.manager, {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "remove_player", arguments: args },
  });
  expect(JSON.parse(removed.result.content[0].text).error_code).toBe("L004");
});
