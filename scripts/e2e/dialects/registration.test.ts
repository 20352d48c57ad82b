import { describe, expect, onTestFinished, test } from "vitest";
import { playedBy } from "../../testing/foreign-match.ts";
import { foreignPlayer, type Json, usualAnswer, usualRegistration } from "../../testing/foreign-player.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";

const request = (params: Json): Json => ({ jsonrpc: "2.0", method: "register_player", params, id: 1 });

describe("the address and the name of a registration are read from", () => {
  test.each<[string, (endpoint: string) => Json]>([
    ["endpoint and player_name", (endpoint) => ({ player_name: "Ann", endpoint })],
    ["endpoint_url and display_name", (endpoint_url) => ({ display_name: "Ann", endpoint_url })],
    ["callback_url and an id as the name", (callback_url) => ({ player_id: "Ann", callback_url })],
    [
      "player_meta without a version or games",
      (contact_endpoint) => ({ player_meta: { display_name: "Ann", contact_endpoint } }),
    ],
  ])("%s", async (_, fields) => {
    const { match } = await playedBy({ register: (_message, endpoint) => request(fields(endpoint)) });
    expect(match.termination).toBe("normal");
  });
});

test.each([
  "2025-01-15T10:05:00",
  "2025-01-15T10:05:00.123456",
  "2025-01-15T10:05:00.123456+00:00",
  "20250115T100500Z",
])("the timestamp %s is read", async (timestamp) => {
  const { match } = await playedBy({ register: (message) => request({ ...message, timestamp }) });
  expect(match.termination).toBe("normal");
});

test.each(["player:alpha", "players:P01", "P01"])("the sender %s is read", async (sender) => {
  const { match } = await playedBy({
    register: (message) => request({ ...message, sender }),
    answer: (message, self) => ({ ...usualAnswer(message, self), sender }),
  });
  expect(match.termination).toBe("normal");
});

test("the answer to a registration is in result, in result.response and in the text of a tool result, with one league id", async () => {
  const { player } = await playedBy({});
  const [{ result }] = player.registrations;
  const fields = {
    message_type: "LEAGUE_REGISTER_RESPONSE",
    status: "ACCEPTED",
    player_id: "P01",
    league_id: "parity",
  };
  expect(result).toMatchObject({ ...fields, conversation_id: "conv-player-alpha-reg-001", reason: null });
  expect(result.response).toMatchObject({ ...fields, auth_token: result.auth_token });
  expect(JSON.parse(result.content[0].text)).toMatchObject({ ...fields, auth_token: result.auth_token });
});

test.each(["first", "last"])(
  "a player that accepts the status REGISTERED only and registers %s receives it at its third registration",
  async (order) => {
    const understood = Promise.withResolvers<void>();
    const ann = foreignPlayer({
      name: "Ann",
      accepts({ result }) {
        if (result.status === "REGISTERED") understood.resolve();
        return result.status === "REGISTERED";
      },
    });
    // The league does not end before the last registration.
    const bob = foreignPlayer({
      name: "Bob",
      answer: (message, self) => understood.promise.then(() => usualAnswer(message, self)),
    });
    const league = await startTestLeague({
      leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
      players: order === "first" ? [ann, bob] : [bob, ann],
    });
    onTestFinished(() => league.stop());
    await league.completed;
    const id = order === "first" ? "P01" : "P02";
    expect(ann.player.registrations.map(({ result }) => [result.player_id, result.status])).toEqual([
      [id, "ACCEPTED"],
      [id, "ACCEPTED"],
      [id, "REGISTERED"],
    ]);
  },
);

test("a player that counts its requests and accepts the status REGISTERED only receives it at its second registration", async () => {
  let id = 0;
  const ann = foreignPlayer({
    name: "Ann",
    register: (message) => ({ ...usualRegistration(message), id: ++id }),
    accepts: ({ result }) => result.status === "REGISTERED",
  });
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
    players: [ann, foreignPlayer({ name: "Bob" })],
  });
  onTestFinished(() => league.stop());
  await league.completed;
  expect(ann.player.registrations.map(({ result }) => result.status)).toEqual(["ACCEPTED", "REGISTERED"]);
});

test("a player that begins to listen after its registration plays", async () => {
  const { match } = await playedBy({ listenAfterMs: 700 });
  expect(match.termination).toBe("normal");
});

test.each([
  ["without it", "/mcp", 307],
  ["with it", "/mcp/", 308],
])("a player whose server redirects to the path with the last slash, or %s, plays", async (_, path, status) => {
  const { match, player } = await playedBy({
    endpoint: (port) => `http://127.0.0.1:${port}${path === "/mcp" ? "/mcp/" : "/mcp"}`,
    respond(response, received) {
      if (received.path === path) return false;
      response.writeHead(status, { location: path }).end();
      return true;
    },
  });
  expect(match.termination).toBe("normal");
  expect(player.received.filter((received) => received.path !== path).length).toBeLessThanOrEqual(2);
});

test("a player that redirects every request loses its match", async () => {
  const { match } = await playedBy({
    respond(response) {
      response.writeHead(307, { location: "/other" }).end();
      return true;
    },
  });
  expect(match).toMatchObject({ termination: "forfeit", winner: "P02" });
});

test("a player over its rate limit is called again after Retry-After", async () => {
  let limited = 0;
  const { match, player } = await playedBy({
    respond(response, { message }) {
      if (message?.message_type !== "CHOOSE_PARITY_CALL" || limited++ > 0) return false;
      response.writeHead(429, { "retry-after": "1" }).end("{}");
      return true;
    },
  });
  expect([match.termination, limited]).toEqual(["normal", 2]);
  expect(player.received.map(({ body }) => body.method)).not.toContain("notify_game_error");
});

test("LEAGUE_COMPLETED is the last message, after GAME_OVER, standings and ROUND_COMPLETED", async () => {
  const { player } = await playedBy({});
  const types = player.received.map(({ message }) => message?.message_type);
  expect(types).toEqual([
    "ROUND_ANNOUNCEMENT",
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "LEAGUE_STANDINGS_UPDATE",
    "ROUND_COMPLETED",
    "LEAGUE_COMPLETED",
  ]);
  expect(player.of("LEAGUE_COMPLETED")[0]).toMatchObject({ total_rounds: 1, total_matches: 1, league_id: "parity" });
});

test("native, classroom and league.v1 players play in one league", async () => {
  const v1 = foreignPlayer({
    name: "Vic",
    register: (message) => usualRegistration({ ...message, protocol: "league.v1" }),
    understand: ({ params }) => (params?.protocol === "league.v1" ? params : null),
    answer: (message) => (message.message_type === "MOVE_REQUEST" ? { move: { number: 3 } } : { status: "ok" }),
  });
  const ann = foreignPlayer({ name: "Ann" });
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1" }],
    players: [v1, ann, { name: "Bob", bot: "random" }],
  });
  onTestFinished(() => league.stop());
  const { leagues } = await league.completed;
  expect(leagues[0]?.matches.map(({ termination }) => termination)).toEqual(["normal", "normal", "normal"]);
  const types = new Set(v1.player.received.map(({ message }) => message?.message_type));
  expect(types).toEqual(new Set(["GAME_START", "MOVE_REQUEST", "ROUND_RESULT", "GAME_END"]));
  const game_config = { game_type: "even_odd", rounds_to_win: 3, max_rounds: 5, time_limit_seconds: 20 };
  expect(v1.player.of("GAME_START")[0]).toMatchObject({ game_config });
  expect(v1.player.of("MOVE_REQUEST")[0].game_state).toMatchObject({
    your_role: expect.stringMatching(/^(ODD|EVEN)$/),
  });
});

test("a player that the config lists with its dialect plays in all leagues without a registration, one match at a time", async () => {
  const answer = (message: Json) => usualAnswer(message, { id: "P01", token: "" });
  const ann = foreignPlayer({ name: "Ann", dialect: "classroom", answer });
  const options = { variant: "draw" };
  const league = await startTestLeague({
    leagues: ["a", "b", "c"].map((league_id) => ({ league_id, game: "even_odd.v1", options })),
    players: [ann, { name: "Bob", bot: "random" }],
  });
  onTestFinished(() => league.stop());
  const { leagues } = await league.completed;
  expect(leagues.flatMap(({ matches }) => matches.map(({ termination }) => termination))).toEqual(
    Array(3).fill("normal"),
  );
  const types = ann.player.received.map(({ message }) => message?.message_type);
  const ofMatches = types.filter((type) => type === "GAME_INVITATION" || type === "GAME_OVER");
  expect(ofMatches).toEqual(Array(3).fill(["GAME_INVITATION", "GAME_OVER"]).flat());
});
