import { afterEach, expect, test } from "vitest";
import {
  type ForeignPlayer,
  type ForeignPlayerOptions,
  type Json,
  laterAnswer,
  laterAnswerToManager,
  usualAnswer,
} from "../../testing/foreign-player.ts";
import { cleanUp, eventually } from "../../testing/processes.ts";
import { crash, type ForeignLeague, foreignLeague } from "../testing/foreign-league.ts";

afterEach(cleanUp);

/** Answers a call with `choice`, and other messages as usual. */
const choosing = (choice: Json) => ({
  answer: (message: Json, self: ForeignPlayer) =>
    message.message_type === "CHOOSE_PARITY_CALL" ? choice : usualAnswer(message, self),
});

const asText = (text: string, { id }: Json): Json => ({
  jsonrpc: "2.0",
  id,
  result: { content: [{ type: "text", text }] },
});

const request = (method: string, params: Json): Json => ({ jsonrpc: "2.0", method, params, id: 1 });

/** Ids that the player keeps in its files, of an earlier league. */
const OLD = { player_id: "P77", sender: "player:P77", auth_token: "tok-p77-old", match_id: "R9M9" };

/** The milliseconds for which each answer of the player with several threads takes. */
const DELAYS: Readonly<Record<string, number>> = {
  ROUND_ANNOUNCEMENT: 80,
  GAME_INVITATION: 40,
  GAME_OVER: 120,
  LEAGUE_STANDINGS_UPDATE: 60,
};

const TOOLS: Readonly<Record<string, string>> = {
  receive_game_invitation: "GAME_INVITATION",
  choose_parity: "CHOOSE_PARITY_CALL",
  receive_game_over: "GAME_OVER",
  notify_league_completed: "LEAGUE_COMPLETED",
};

/** A player for each habit. */
const HABITS: Readonly<Record<string, Omit<ForeignPlayerOptions, "name">>> = {
  "fields in result, choice": choosing({ choice: "odd" }),
  "fields in result.payload, move_data": {
    ...choosing({ payload: { move_data: { choice: "even" } } }),
    placeOf: ({ result }) => result.payload,
  },
  "fields in result.envelope and result.payload, answers in params": {
    placeOf: ({ result }, field) => (field === "auth_token" ? result.envelope : result.payload),
    register: ({ player_meta, ...envelope }) => request("league.handle", { envelope, payload: { player_meta } }),
    understand: ({ method, params }) => (method === "league.handle" ? { ...params.envelope, ...params.payload } : null),
    wrap: (params) => ({ jsonrpc: "2.0", id: "own", method: "answer", params }),
  },
  "own ids": {
    answer: (message, self) => ({ ...usualAnswer(message, self), ...OLD, message_id: `own-${self.received.length}` }),
    wrap: (result) => ({ jsonrpc: "2.0", id: 4711, result }),
  },
  "answers later": { answer: laterAnswer },
  "answers later, to the manager": { answer: laterAnswerToManager },
  "answers in JSON in a text": { wrap: (result, body) => asText(JSON.stringify(result), body) },
  "answers in plain text": {
    answer: ({ message_type }) =>
      ({ GAME_INVITATION: "accepted", CHOOSE_PARITY_CALL: "odd" })[message_type as string] ?? "ok",
    wrap: asText,
  },
  "several threads": {
    async answer(message, self) {
      await new Promise((resolve) => setTimeout(resolve, DELAYS[message.message_type] ?? 0));
      return usualAnswer(message, self);
    },
  },
  "HTTP 1.0": { isHttp10: true },
  "tools/call": {
    register: ({ player_meta: { contact_endpoint, ...fields } }) =>
      request("tools/call", { name: "register_player", arguments: { ...fields, endpoint: contact_endpoint } }),
    understand: ({ method, params }) =>
      method === "tools/call" && params.name in TOOLS && TOOLS[params.name] === params.arguments.message_type
        ? params.arguments
        : null,
  },
};

const GAME = { game: "even_odd.v1", options: { variant: "draw" } };
const PLAYERS: readonly ForeignPlayerOptions[] = Object.entries(HABITS).map(([name, habit]) => ({ ...habit, name }));
/** In a round robin each pair plays one match. */
const MATCHES = (PLAYERS.length * (PLAYERS.length - 1)) / 2;

/** Expects that all matches have ended without a forfeit, and that each player has received all its results and the complete standings. */
async function expectComplete({ players, matches }: ForeignLeague): Promise<void> {
  const outcomes = await matches();
  expect(outcomes).toHaveLength(MATCHES);
  expect(outcomes.filter(({ termination }) => termination !== "normal")).toEqual([]);
  await eventually("the end of the league at each player", () =>
    players.every((player) => player.of("LEAGUE_COMPLETED").length > 0),
  );
  const each = PLAYERS.length - 1;
  for (const [index, player] of players.entries()) {
    const name = PLAYERS[index]?.name;
    const ended = new Set(player.of("GAME_OVER").map(({ match_id }) => match_id));
    const rows: Json[] = player.of("LEAGUE_COMPLETED")[0].final_standings;
    const played = rows.map((row) => row.played);
    expect({ name, id: player.id, results: ended.size, played }).toEqual({
      name,
      id: `P${String(index + 1).padStart(2, "0")}`,
      results: each,
      played: PLAYERS.map(() => each),
    });
  }
}

test("players with the habits of other programs play a complete league without a forfeit", async () => {
  const league = await foreignLeague(GAME, PLAYERS);
  const manager = await league.startManager();
  await league.startReferee(1);
  await league.startReferee(2);
  await league.startPlayers();
  await manager.line(/league l is completed/);
  await expectComplete(league);
});

test("players with the habits of other programs finish their league with a manager that was killed in the middle", async () => {
  const inMiddle = Promise.withResolvers<void>();
  const [first, ...others] = PLAYERS as [ForeignPlayerOptions, ...ForeignPlayerOptions[]];
  const watched: ForeignPlayerOptions = {
    ...first,
    answer(message, self) {
      if (message.message_type === "CHOOSE_PARITY_CALL" && message.round_id > PLAYERS.length / 2) inMiddle.resolve();
      return first.answer?.(message, self);
    },
  };
  const league = await foreignLeague(GAME, [watched, ...others]);
  const killed = await league.startManager();
  await league.startReferee(1);
  await league.startReferee(2);
  await league.startPlayers();
  await inMiddle.promise;
  await crash(killed);
  const manager = await league.startManager();
  await manager.line(/league l is completed/);
  await expectComplete(league);
});
