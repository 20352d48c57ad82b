import { describe, expect, test } from "vitest";
import { playedBy } from "../../testing/foreign-match.ts";
import { type ForeignPlayerOptions, type Json, usualAnswer } from "../../testing/foreign-player.ts";

const message = (body: Json): Json => body.params;

/** Understands a request if its method is the given one for the type of its message. */
const understand =
  (methodOf: (type: string) => string, messageIn: (body: Json) => Json) =>
  (body: Json): Json | null => {
    const found = messageIn(body);
    return found?.message_type !== undefined && body.method === methodOf(found.message_type) ? found : null;
  };

const inTool =
  (tools: Readonly<Record<string, string>>) =>
  (body: Json): Json | null => {
    const { name, arguments: args } = body.params ?? {};
    return body.method === "tools/call" && tools[args?.message_type] === name ? args : null;
  };

const PARITY_TOOLS = {
  GAME_INVITATION: "receive_game_invitation",
  CHOOSE_PARITY_CALL: "choose_parity",
  GAME_OVER: "receive_game_over",
  ROUND_ANNOUNCEMENT: "notify_round",
};

const envelopeAnd = (one: Json): Json => {
  const { player_meta, ...envelope } = one;
  return { envelope, payload: { player_meta } };
};

const request = (method: string, params: Json): Json => ({ jsonrpc: "2.0", method, params, id: 1 });

type Form = Pick<ForeignPlayerOptions, "understand" | "register">;

const FORMS: Readonly<Record<string, Form>> = {
  "the message type in upper case": {
    understand: understand((type) => type, message),
    register: (one) => request("LEAGUE_REGISTER_REQUEST", one),
  },
  "the message type in lower case": {
    understand: understand((type) => type.toLowerCase(), message),
    register: (one) => request("league_register_request", one),
  },
  "tools GAME_INVITE and MOVE_REQUEST with plain arguments, registered by register_player with plain fields": {
    understand: inTool({
      GAME_INVITATION: "GAME_INVITE",
      CHOOSE_PARITY_CALL: "MOVE_REQUEST",
      GAME_OVER: "GAME_RESULT",
    }),
    register: ({ player_meta: { contact_endpoint, ...fields } }) =>
      request("tools/call", { name: "register_player", arguments: { ...fields, endpoint: contact_endpoint } }),
  },
  "tool names with parity_choose, registered by league_register": {
    understand: understand(
      (type) =>
        ({
          GAME_INVITATION: "handle_game_invitation",
          CHOOSE_PARITY_CALL: "parity_choose",
          GAME_OVER: "notify_match_result",
        })[type] ?? "",
      message,
    ),
    register: (one) => request("league_register", one),
  },
  "handle_message with params.message": {
    understand: understand(
      () => "handle_message",
      (body) => body.params?.message,
    ),
    register: (one) => request("handle_message", { message: one }),
  },
  "protocol/message with params": {
    understand: understand(() => "protocol/message", message),
    register: (one) => request("protocol/message", one),
  },
  "tools/call of receive_game_invitation, choose_parity and receive_game_over": {
    understand: inTool(PARITY_TOOLS),
    register: (one) => request("tools/call", { name: "register_player", arguments: one }),
  },
  "league.handle with params.envelope and params.payload": {
    understand: understand(
      () => "league.handle",
      ({ params }) => params?.envelope && { ...params.envelope, ...params.payload },
    ),
    register: (one) => request("league.handle", envelopeAnd(one)),
  },
  "receive_game_invitation and receive_parity_call as methods": {
    understand: understand(
      (type) =>
        ({
          GAME_INVITATION: "receive_game_invitation",
          CHOOSE_PARITY_CALL: "receive_parity_call",
          GAME_OVER: "receive_game_over",
        })[type] ?? "",
      message,
    ),
    register: (one) => request("register_player", one),
  },
  "the message as the body, without JSON-RPC": {
    understand: (body) => (body.jsonrpc === undefined ? body : null),
    register: (one) => one,
  },
};

describe("the JSON-RPC method and the place of a message", () => {
  test.each(Object.entries(FORMS))("%s", async (_, form) => {
    const { player, match } = await playedBy(form);
    expect(match.termination).toBe("normal");
    expect(player.of("GAME_INVITATION")).toHaveLength(1);
    expect(player.of("CHOOSE_PARITY_CALL")).toHaveLength(1);
    expect(player.of("GAME_OVER")).toHaveLength(1);
  });

  test("a form that works is kept: later messages are sent in it first", async () => {
    // The registration shows the form `tool`, but the player understands `handle_message` only.
    const { player } = await playedBy({ understand: FORMS["handle_message with params.message"]?.understand as never });
    const methods = player.received.map(({ body, message: found }) => [
      body.method,
      (found ?? body.params).message_type,
    ]);
    const invited = methods.findIndex(([, type]) => type === "GAME_INVITATION");
    const calls = methods
      .slice(invited + 1)
      .filter(([, type]) => type === "CHOOSE_PARITY_CALL" || type === "GAME_OVER");
    expect(calls).toEqual([
      ["handle_message", "CHOOSE_PARITY_CALL"],
      ["handle_message", "GAME_OVER"],
    ]);
  });

  test.each([
    ["an unknown tool", (id: Json) => ({ jsonrpc: "2.0", id, error: { code: -32000, message: "Unknown tool: x" } })],
    ["an unknown message", (id: Json) => ({ jsonrpc: "2.0", id, result: { status: "unknown_message_type" } })],
    ["status 422", () => ({ detail: [{ loc: ["body", "message"], msg: "field required" }] })],
  ])("another form is tried after %s", async (name, rejection) => {
    const known = FORMS["handle_message with params.message"]?.understand as (body: Json) => Json;
    const { match } = await playedBy({
      understand: known,
      respond(response, { body, message: found }) {
        if (found !== null) return false;
        response.writeHead(name === "status 422" ? 422 : 200).end(JSON.stringify(rejection(body.id)));
        return true;
      },
    });
    expect(match.termination).toBe("normal");
  });
});

test("request ids are integers, conversation ids UUIDs, timestamps whole seconds with Z, and senders those of the document", async () => {
  const { player } = await playedBy({});
  expect(player.received.length).toBeGreaterThan(4);
  for (const { body, message: one } of player.received) {
    expect(Number.isInteger(body.id)).toBe(true);
    expect(one.conversation_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(one.sender).toMatch(/^(league_manager|referee:[A-Z0-9]+)$/);
    expect(one.auth_token).toBe(player.token);
  }
});

test("an invitation and a call of a choice contain nested copies of their fields", async () => {
  const { player } = await playedBy({ answer: (one, self) => usualAnswer(one, self) });
  const [invitation] = player.of("GAME_INVITATION");
  const { match_id, opponent_id, role_in_match } = invitation;
  expect(invitation.game_invitation).toMatchObject({ match_id, opponent_id, role_in_match: "PLAYER_A" });
  expect(role_in_match).toBe("PLAYER_A");
  const [call] = player.of("CHOOSE_PARITY_CALL");
  expect(call.parity_context).toEqual(call.context);
  expect(call.context).toMatchObject({ opponent_id, round_id: 1, your_standings: { wins: 0, losses: 0, draws: 0 } });
});
