import { describe, expect, onTestFinished, test } from "vitest";
import { playedBy } from "../../testing/foreign-match.ts";
import {
  type ForeignPlayer,
  foreignPlayer,
  type Json,
  laterAnswer,
  postJson,
  usualAnswer,
} from "../../testing/foreign-player.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";

/** Answers an invitation with `acceptance` and other messages as usual. */
const accepting = (acceptance: Json) => ({
  answer: (message: Json, self: ForeignPlayer) =>
    message.message_type === "GAME_INVITATION" ? acceptance : usualAnswer(message, self),
});

describe("an invitation is accepted by", () => {
  test.each([
    { accept: true },
    { accepted: true },
    { status: "ACCEPTED" },
    { status: "ACK" },
    { status: "joined" },
    { status: "READY" },
    { success: true },
    { type: "GAME_JOIN_ACK", match_id: "R1M1" },
  ])("%j", async (acceptance) => {
    const { match, player } = await playedBy(accepting(acceptance));
    expect(match.termination).toBe("normal");
    expect(player.of("CHOOSE_PARITY_CALL")).toHaveLength(1);
  });
});

test("an invitation is declined by accept: false, with its reason", async () => {
  const { match } = await playedBy(accepting({ accept: false, reason: "busy today" }));
  expect(match.result.faults).toMatchObject([
    { player_id: "P01", code: "G001", cause: "declined", detail: "declined: busy today" },
  ]);
});

test('HTTP 200 alone accepts nothing: a player that answers {"status": "ok"} to everything forfeits', async () => {
  const { match } = await playedBy(
    { answer: () => ({ status: "ok" }) },
    { timeouts: { join_ms: 5_000, move_ms: 5_000 } },
  );
  expect(match).toMatchObject({ termination: "forfeit", winner: "P02" });
  expect(match.result.faults[0]?.detail).toMatch(/"status":"ok".* does not accept the invitation/);
});

describe("an answer that comes later", () => {
  const later = (method: (type: string) => string, params: (answer: Json) => Json) => ({
    answer: async (message: Json, self: Json) => {
      const answer = usualAnswer(message, self);
      if (answer.message_type === undefined) return answer;
      const [{ matches }] = self.of("ROUND_ANNOUNCEMENT");
      const request = { jsonrpc: "2.0", id: 7, method: method(answer.message_type), params: params(answer) };
      setTimeout(() => void postJson(matches[0].referee_endpoint, request), 50);
      return { status: "RECEIVED" };
    },
  });
  const TOOLS: Readonly<Record<string, string>> = {
    GAME_JOIN_ACK: "receive_game_join_ack",
    CHOOSE_PARITY_RESPONSE: "receive_parity_response",
  };

  test.each<[string, (type: string) => string, (answer: Json) => Json]>([
    ["receive_game_join_ack and receive_parity_response", (type) => TOOLS[type] ?? "", (answer) => answer],
    ["the message type as the method", (type) => type, (answer) => answer],
    ["handle_message with the message", () => "handle_message", (answer) => ({ message: answer })],
    ["a message without a token", (type) => type, ({ auth_token: _, ...answer }) => answer],
  ])("is taken as %s", async (_, method, params) => {
    const { match, player } = await playedBy(later(method, params));
    expect(match.termination).toBe("normal");
    expect(player.of("GAME_INVITATION")).toHaveLength(1);
    expect(player.of("CHOOSE_PARITY_CALL")).toHaveLength(1);
  });

  /** Sends the answer to a call to the manager with each of these changes in turn. */
  const toManager = (changes: readonly Json[], replies: Json[]) => ({
    answer: async (message: Json, self: ForeignPlayer) => {
      const answer = usualAnswer(message, self);
      if (answer.message_type !== "CHOOSE_PARITY_RESPONSE") return answer;
      for (const change of changes) {
        const params = { ...answer, ...change };
        replies.push(
          await postJson(self.manager, { jsonrpc: "2.0", id: 7, method: "receive_parity_response", params }),
        );
      }
      return { status: "RECEIVED" };
    },
  });

  test.each([{}, { auth_token: undefined }, { auth_token: "tok-old" }, { match_id: undefined }])(
    "is taken by the manager and passed on to the referee, also with %j",
    async (change) => {
      const replies: Json[] = [];
      const { match } = await playedBy(toManager([change], replies));
      expect(match.termination).toBe("normal");
      expect(replies[0].result).toMatchObject({ message_type: "ACK", status: "ACCEPTED" });
    },
  );

  test("of another sender or about another match is not passed on by the manager", async () => {
    const replies: Json[] = [];
    const wrong = [{ sender: "player:P02", player_id: "P02" }, { match_id: "R9M9" }, {}];
    const { match } = await playedBy(toManager(wrong, replies));
    expect(match.termination).toBe("normal");
    expect(replies.map(({ result }) => result.status)).toEqual(["IGNORED", "IGNORED", "ACCEPTED"]);
  });

  test("without a token from the address of two players is passed on by the manager only with the id of one of them", async () => {
    const replies: Json[] = [];
    const withoutToken = { auth_token: undefined };
    const changes = [{ ...withoutToken, sender: "player:P77", player_id: "P77" }, withoutToken];
    const ann = foreignPlayer({ name: "Ann", ...toManager(changes, replies) });
    const league = await startTestLeague({
      leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
      players: [ann, foreignPlayer({ name: "Bob" })],
    });
    onTestFinished(() => league.stop());
    const { leagues } = await league.completed;
    expect(leagues[0]?.matches[0]?.termination).toBe("normal");
    expect(replies[0].result).toMatchObject({ message_type: "LEAGUE_ERROR", error_code: "E012" });
    expect(replies[1].result.status).toBe("ACCEPTED");
  });

  test("is taken if it arrives before the response", async () => {
    const { match } = await playedBy({
      answer: async (message, self) => {
        const answer = usualAnswer(message, self);
        if (answer.message_type === undefined) return answer;
        const [{ matches }] = self.of("ROUND_ANNOUNCEMENT");
        const method = TOOLS[answer.message_type];
        await postJson(matches[0].referee_endpoint, { jsonrpc: "2.0", id: 7, method, params: answer });
        return { status: "choice_sent" };
      },
    });
    expect(match.termination).toBe("normal");
  });

  test("reaches the referee of a match that had none when its round was announced", async () => {
    const players = ["Ann", "Bob", "Cid", "Dan"].map((name) => foreignPlayer({ name, answer: laterAnswer }));
    const league = await startTestLeague({
      leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
      players,
      maxConcurrentMatches: 1,
    });
    onTestFinished(() => league.stop());
    const { leagues } = await league.completed;
    expect(leagues[0]?.matches.map(({ termination }) => termination)).toEqual(Array(6).fill("normal"));
  });

  test("of another sender or about another match is not taken", async () => {
    const replies: Json[] = [];
    const { match } = await playedBy(
      {
        answer: async (message, self) => {
          const answer = usualAnswer(message, self);
          if (answer.message_type !== "CHOOSE_PARITY_RESPONSE") return answer;
          const [{ matches }] = self.of("ROUND_ANNOUNCEMENT");
          for (const wrong of [{ sender: "player:P02", player_id: "P02" }, { match_id: "R9M9" }]) {
            const request = {
              jsonrpc: "2.0",
              id: 7,
              method: "receive_parity_response",
              params: { ...answer, ...wrong },
            };
            replies.push(await postJson(matches[0].referee_endpoint, request));
          }
          return { status: "RECEIVED" };
        },
      },
      { timeouts: { join_ms: 5_000, move_ms: 5_000 } },
    );
    expect(match.termination).toBe("forfeit");
    expect(replies.map(({ result }) => result.status)).toEqual(["IGNORED", "IGNORED"]);
  });
});

describe("an answer is read", () => {
  test.each<[string, (result: Json, body: Json) => Json]>([
    [
      "in params of a request with its own id",
      (result) => ({ jsonrpc: "2.0", id: "own", method: "x", params: result }),
    ],
    ["from a body without JSON-RPC", (result) => result],
    ["beside error: null", (result, { id }) => ({ jsonrpc: "2.0", id, result, error: null })],
    [
      "from the text of a tool result",
      (result, { id }) => ({
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: JSON.stringify(result) }] },
      }),
    ],
  ])("%s", async (_, wrap) => {
    expect((await playedBy({ wrap })).match.termination).toBe("normal");
  });

  test.each([400, 500])("with HTTP status %i", async (status) => {
    const { match } = await playedBy({
      respond(response, { message, body }, self) {
        if (message === null) return false;
        response
          .writeHead(status)
          .end(JSON.stringify({ jsonrpc: "2.0", id: body.id, result: usualAnswer(message, self) }));
        return true;
      },
    });
    expect(match.termination).toBe("normal");
  });
});

describe("a move is read", () => {
  const moving = (move: Json, type = "CHOOSE_PARITY_CALL") => ({
    answer: (message: Json, self: ForeignPlayer) => (message.message_type === type ? move : usualAnswer(message, self)),
  });
  /** The actions of P01 in the log of a match. */
  const actions = ({ log }: { readonly log: readonly string[] }): readonly unknown[] =>
    log.map((line) => JSON.parse(line)).flatMap((entry) => (entry.agent?.startsWith("P01@") ? [entry.action] : []));

  test.each([
    [{ parity_choice: "odd" }, "odd"],
    [{ parity_choice: "ODD" }, "odd"],
    [{ choice: "odd" }, "odd"],
    [{ move_data: { choice: "odd" } }, "odd"],
    [{ parity_choice: "odd", number: 4 }, "odd"],
    [{ number: 3 }, "odd"],
    ["odd", "odd"],
  ])("%j", async (move, action) => {
    const { match } = await playedBy(moving(move));
    expect(actions(match)).toEqual([action]);
  });

  test.each([
    [{ parity_choice: "odd", number: 5 }, [5]],
    [{ parity_choice: "even" }, [2]],
  ])("%j as a number in the default game", async (move, [action]) => {
    const leagues = [{ league_id: "parity", game: "even_odd.v1", options: { rounds_to_win: 1, max_rounds: 1 } }];
    const { match } = await playedBy(moving(move), { leagues });
    expect(actions(match)).toEqual([action]);
  });

  const TIC_TAC_TOE = { leagues: [{ league_id: "ttt", game: "tic_tac_toe.v1" }] };
  const inGames = (games: readonly string[]) => ({
    register: (message: Json) => {
      message.player_meta.game_types = games;
      return { jsonrpc: "2.0", method: "register_player", params: message, id: 1 };
    },
  });

  test("move_payload with row and column is a cell of tic-tac-toe, whose name has no version", async () => {
    const { match } = await playedBy(
      {
        ...inGames(["tic_tac_toe"]),
        answer(message, self) {
          if (message.message_type !== "GAME_MOVE_CALL") return usualAnswer(message, self);
          const row = message.board.findIndex((cells: string[]) => cells.includes(""));
          return { move_payload: { row, col: message.board[row].indexOf("") } };
        },
      },
      TIC_TAC_TOE,
    );
    expect(match.termination).toBe("normal");
    expect(actions(match)[0]).toBe("a3");
  });

  test.each(["rps", "chess", "connect_four"])("move_data.choice is an action of %s", async (game) => {
    const { match } = await playedBy(inGames([game]), { leagues: [{ league_id: game, game: `${game}.v1` }] });
    expect(match.result.faults.filter(({ player_id }) => player_id === "P01")).toEqual([]);
  });

  test("a choice that is no parity is answered with GAME_ERROR E004 and another call, three times", async () => {
    const { match, player } = await playedBy(moving({ parity_choice: "seven" }));
    expect(match).toMatchObject({ termination: "forfeit", winner: "P02" });
    expect(player.of("CHOOSE_PARITY_CALL")).toHaveLength(3);
    const errors = player.received.filter(({ body }) => body.method === "notify_game_error");
    expect(errors[0]?.body.params).toMatchObject({ error_code: "E004", error_description: "INVALID_PARITY_CHOICE" });
  });
});

test("a result is sent in game_result and flat", async () => {
  const { player, match } = await playedBy({});
  const [over] = player.of("GAME_OVER");
  const { drawn_number, number_parity, choices } = over.game_result;
  expect(over.game_result.status).toBe(match.winner === null ? "DRAW" : "WIN");
  expect([drawn_number % 2 === 0 ? "even" : "odd", choices.P01]).toEqual([number_parity, "even"]);
  const outcome = match.winner === null ? "DRAW" : match.winner === "P01" ? "WIN" : "LOSS";
  expect(over).toMatchObject({ winner: match.winner, result: outcome, outcome, your_choice: "even", drawn_number });
});
