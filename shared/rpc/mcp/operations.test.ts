import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Envelope } from "#shared/protocol/envelope.ts";
import { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { err, ok } from "../../lib/result.ts";
import { protocolError } from "../../protocol/errors.ts";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { ask, faultsOf, serve } from "../testing/endpoint.ts";
import { mcpMethods } from "./methods.ts";
import { type Caller, operation, toolsOf } from "./operations.ts";

const callers: Caller[] = [];
const internalErrors: unknown[] = [];

const register = operation({
  request: "PLAYER_REGISTER_REQUEST",
  reply: "PLAYER_REGISTER_RESPONSE",
  payload: PlayerRegisterRequest,
  tool: {
    name: "register_player",
    title: "Register a player",
    description: "Register a new player to the league",
    annotations: { idempotentHint: true },
    result: z.object({ status: z.string(), player_id: z.string() }),
    plain: z
      .object({ player_name: z.string(), endpoint: z.string(), version: z.string().optional() })
      .transform(({ player_name, endpoint }) =>
        PlayerRegisterRequest.parse({ display_name: player_name, game_types: [], contact_endpoint: endpoint }),
      ),
  },
  handle({ display_name }, caller) {
    const { sender, authToken, remoteAddress } = caller;
    callers.push({ sender, authToken, remoteAddress });
    if (display_name === "Taken") return err(protocolError("L003", "the name is taken", { display_name }));
    return ok({ status: "ACCEPTED", player_id: "P01" });
  },
});

/** An operation without a tool, which fails for some players. */
const report = operation({
  request: "MATCH_RESULT",
  reply: "MATCH_RESULT_RESPONSE",
  payload: z.object({ scores: z.record(z.string(), z.number()) }),
  async handle({ scores }) {
    if ("P13" in scores) throw new Error("secret: /srv/league");
    if ("P14" in scores) return err(protocolError("G003", "no such match", {}, true));
    return ok({ status: "RECORDED", players: Object.keys(scores) });
  },
});

const methods = mcpMethods({
  serverInfo: { name: "league-manager", version: "1.0.0" },
  tools: toolsOf([register, report], () => "league_manager:LM01", systemClock, systemIds),
  resources: [],
  templates: [],
});

serve(methods, (error) => internalErrors.push(error));
afterEach(() => {
  callers.length = 0;
  internalErrors.length = 0;
});
const callTool = (name: string, args?: unknown, bearer?: string) =>
  ask("tools/call", { name, ...(args !== undefined && { arguments: args }) }, bearer);

const ToolAnswer = z.strictObject({
  content: z.tuple([z.strictObject({ type: z.literal("text"), text: z.string() })]),
  structuredContent: z.unknown().optional(),
  isError: z.literal(true).optional(),
});
async function toolAnswer(answer: ReturnType<typeof ask>) {
  const { status, result } = await answer;
  expect(status).toBe(200);
  const { content, structuredContent, isError = false } = ToolAnswer.parse(result);
  return { value: JSON.parse(content[0].text) as unknown, structuredContent, isError };
}

describe("tools/list", () => {
  test("lists each tool with name, description and input schema, and without internal fields", async () => {
    const { tools } = (await ask("tools/list")).result as { tools: Record<string, unknown>[] };
    expect(tools.map((tool) => tool.name)).toEqual(["register_player", "league_message"]);
    const [first, envelopeTool] = tools;
    expect(first).toEqual({
      name: "register_player",
      title: "Register a player",
      description: "Register a new player to the league",
      annotations: { idempotentHint: true, openWorldHint: false },
      outputSchema: expect.objectContaining({ type: "object", required: ["status", "player_id"] }),
      inputSchema: expect.objectContaining({
        type: "object",
        properties: { player_name: { type: "string" }, endpoint: { type: "string" }, version: { type: "string" } },
        required: ["player_name", "endpoint"],
      }),
    });
    expect(envelopeTool).toMatchObject({
      description: expect.stringContaining("PLAYER_REGISTER_REQUEST, MATCH_RESULT"),
      inputSchema: { type: "object" },
    });
    const required = ["protocol", "message_id", "type", "sender", "timestamp", "payload"];
    expect(envelopeTool).toHaveProperty("inputSchema.required", expect.arrayContaining(required));
  });
});

describe("tools/call with plain arguments", () => {
  test("answers with JSON as text and as structured content", async () => {
    const answer = await toolAnswer(
      callTool("register_player", { player_name: "AlphaBot", endpoint: "http://localhost:8101/mcp" }),
    );
    const value = { status: "ACCEPTED", player_id: "P01" };
    expect(answer).toEqual({ value, structuredContent: value, isError: false });
  });

  test.each([
    ["null", { version: null }],
    ["an empty text", { version: "", auth_token: "" }],
  ])("reads %s for an optional argument as no value", async (_, more) => {
    const args = { player_name: "AlphaBot", endpoint: "http://localhost:8101/mcp", ...more };
    expect((await toolAnswer(callTool("register_player", args, "bearer"))).isError).toBe(false);
    expect(callers).toEqual([expect.objectContaining({ authToken: "bearer" })]);
  });

  test("reads the text of a JSON object as the arguments", async () => {
    const args = JSON.stringify({ player_name: "AlphaBot", endpoint: "http://localhost:8101/mcp" });
    expect((await toolAnswer(callTool("register_player", args))).isError).toBe(false);
    expect(await faultsOf(callTool("register_player", "AlphaBot"))).toEqual([""]);
  });

  test("answers a rejection with the error and isError", async () => {
    const answer = await toolAnswer(callTool("register_player", { player_name: "Taken", endpoint: "x" }));
    const value = {
      error_code: "L003",
      error_name: "ALREADY_REGISTERED",
      message: "the name is taken",
      retryable: false,
      context: { display_name: "Taken" },
    };
    expect(answer).toEqual({ value, structuredContent: undefined, isError: true });
  });

  test("names the paths of invalid arguments and does not call the handler", async () => {
    expect(await faultsOf(callTool("register_player", { player_name: 7 }))).toEqual(["player_name", "endpoint"]);
    expect(await faultsOf(callTool("register_player"))).toEqual(["player_name", "endpoint"]);
    expect(callers).toEqual([]);
  });

  test("takes the token from the argument, else from the header, and has no sender", async () => {
    const args = { player_name: "A", endpoint: "x" };
    await callTool("register_player", { ...args, auth_token: "argument" }, "header");
    await callTool("register_player", args, "header");
    await callTool("register_player", args);
    const remoteAddress = "127.0.0.1";
    expect(callers).toEqual(
      ["argument", "header", null].map((authToken) => ({ sender: null, authToken, remoteAddress })),
    );
  });
});

describe("tools/call with an envelope (PROTOCOL.md, section 2)", () => {
  const payload = { display_name: "AlphaBot", game_types: ["rps.v1"], contact_endpoint: "http://localhost:8101/mcp" };
  const envelope = newEnvelope("PLAYER_REGISTER_REQUEST", "player:AlphaBot", payload);
  const matchResult = (scores: unknown) => newEnvelope("MATCH_RESULT", "referee:REF01", { scores });
  const envelopeAnswer = async (args: unknown, name = "league_message") => {
    const { value, structuredContent, isError } = await toolAnswer(callTool(name, args));
    expect(structuredContent).toBeUndefined();
    return { isError, ...Envelope.parse(value) };
  };

  test.each(["league_message", "register_player"])(
    "%s answers with the type of the reply, the agent as sender and the id of the request",
    async (name) => {
      expect(await envelopeAnswer(envelope, name)).toMatchObject({
        isError: false,
        type: "PLAYER_REGISTER_RESPONSE",
        sender: "league_manager:LM01",
        correlation_id: envelope.message_id,
        payload: { status: "ACCEPTED", player_id: "P01" },
      });
    },
  );

  test("answers a rejection with LEAGUE_ERROR or GAME_ERROR and isError", async () => {
    const taken = { ...envelope, payload: { ...payload, display_name: "Taken" } };
    const league = { error_code: "L003", error_name: "ALREADY_REGISTERED", retryable: false };
    expect(await envelopeAnswer(taken)).toMatchObject({
      isError: true,
      type: "LEAGUE_ERROR",
      correlation_id: envelope.message_id,
      payload: league,
    });
    const game = { error_code: "G003", error_name: "GAME_NOT_FOUND", retryable: true };
    expect(await envelopeAnswer(matchResult({ P14: 0 }))).toMatchObject({
      isError: true,
      type: "GAME_ERROR",
      payload: game,
    });
  });

  test("names the paths of faults in the envelope, then in the payload", async () => {
    expect(await faultsOf(callTool("league_message", { ...envelope, protocol: "league.v1", sender: "me" }))).toEqual([
      "protocol",
      "sender",
    ]);
    expect(await faultsOf(callTool("league_message", { ...envelope, payload: { game_types: "rps.v1" } }))).toEqual([
      "payload.display_name",
      "payload.game_types",
    ]);
    expect(await faultsOf(callTool("league_message", matchResult({ P01: "3" })))).toEqual(["payload.scores.P01"]);
    expect(await faultsOf(callTool("league_message"))).toContain("protocol");
  });

  test("rejects types that the agent does not accept, and at a named tool every other type", async () => {
    expect(await faultsOf(callTool("league_message", { ...envelope, type: "GAME_INVITE" }))).toEqual(["type"]);
    expect(await faultsOf(callTool("register_player", matchResult({ P01: 3 })))).toEqual(["type"]);
  });

  test("takes the token from the envelope, else from the header, and the sender from the envelope", async () => {
    await callTool("league_message", { ...envelope, auth_token: "own" }, "header");
    await callTool("league_message", { ...envelope, auth_token: null }, "header");
    await callTool("register_player", envelope);
    const claimed = { sender: "player:AlphaBot", remoteAddress: "127.0.0.1" };
    expect(callers).toEqual(["own", "header", null].map((authToken) => ({ ...claimed, authToken })));
  });

  test("answers an internal error without details, which are passed to onInternalError", async () => {
    const { status, error } = await callTool("league_message", matchResult({ P13: 1 }));
    expect([status, error]).toEqual([500, { code: -32603, message: "Internal error" }]);
    expect(internalErrors).toEqual([new Error("secret: /srv/league")]);
  });

  test("does not change prototypes for __proto__ in a payload", async () => {
    const answer = await envelopeAnswer(matchResult(JSON.parse('{"__proto__": 1, "P01": 3}')));
    expect(answer.payload).toEqual({ status: "RECORDED", players: ["P01"] });
    await callTool(
      "register_player",
      JSON.parse('{"__proto__": {"polluted": 1}, "player_name": "A", "endpoint": "x"}'),
    );
    expect("polluted" in {}).toBe(false);
  });
});
