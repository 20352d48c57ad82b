import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { startTestManager, type TestManager, type Wire } from "../testing/test-manager.ts";

let manager: TestManager;
let program: Server;
let endpoint = "";
/** The messages to the program at the endpoint. */
let messages: Wire[] = [];
/** The text of the program's tool results; null: it does not answer. */
let answer: object | null = {};

beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
  messages = [];
  program = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    messages.push(params.arguments);
    if (answer === null) return; // accepts the connection and does not answer
    const result = textResult(answer);
    response.end(JSON.stringify(rpcResponse(id, result)));
  });
  endpoint = `http://127.0.0.1:${await listenOnLoopback(program)}/mcp`;
});
afterEach(async () => {
  program.close().closeAllConnections();
  await manager?.stop();
});

const register = (player_name: string, at: string, auth_token: string): Promise<Wire> =>
  manager.tool("register_player", { player_name, endpoint: at, auth_token });
const ack = (sender: string): object => newEnvelope("ACK", sender, {});

describe("a new player at the endpoint of a registered player", () => {
  const token = systemIds.token();
  beforeEach(async () => {
    expect(await register("Ann", endpoint, token)).toMatchObject({ player_id: "P01" });
  });

  it("is accepted if nothing listens there, and the former player can register again at another endpoint", async () => {
    await new Promise((resolve) => program.close(resolve));
    expect(await register("Bob", endpoint, systemIds.token())).toMatchObject({ status: "ACCEPTED", player_id: "P02" });
    expect(manager.storedEndpoints()).toEqual({ P01: "", P02: endpoint });
    const elsewhere = manager.endpointOf("Ann");
    expect(await register("Ann", elsewhere, token)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
    expect(manager.storedEndpoints()).toEqual({ P01: elsewhere, P02: endpoint });
  });

  it.each([
    ["rejects the signature of a message to the registered player", newEnvelope("LEAGUE_ERROR", "player:new", L004())],
    ["answers under another name", ack("player:Bob")],
  ])("is accepted if the program that listens there %s", async (_, nextAnswer) => {
    answer = nextAnswer;
    expect(await register("Bob", endpoint, systemIds.token())).toMatchObject({ status: "ACCEPTED", player_id: "P02" });
    const authToken = signFor(sha256Hex(token), "rps");
    expect(messages).toMatchObject([{ type: "ROUND_ANNOUNCEMENT", auth_token: authToken, payload: { matches: [] } }]);
  });

  it.each([
    ["with the id of the registered player", ack("player:P01")],
    ["with the name of the registered player", ack("player:Ann")],
    ["as a player without an id", ack("player:new")],
    ["without a sender", {}],
    ["as a referee", ack("referee:REF01")],
    ["not at all", null],
    ["that it has no secret for checking the signature", newEnvelope("LEAGUE_ERROR", "player:new", L004(false))],
  ])("is rejected if the program that listens there answers %s", async (_, nextAnswer) => {
    answer = nextAnswer;
    const rejected = await register("Bob", endpoint, systemIds.token());
    expect(rejected).toMatchObject({ status: "REJECTED", error_code: "L003" });
    expect(rejected.reason).toContain("the operator can reset a lost token");
    expect(manager.storedEndpoints()).toEqual({ P01: endpoint });
  });

  it("is rejected if the connection is reset, because a running program may reset connections", async () => {
    program.prependListener("connection", (socket) => socket.resetAndDestroy());
    expect(await register("Bob", endpoint, systemIds.token())).toMatchObject({
      status: "REJECTED",
      error_code: "L003",
    });
    expect(manager.storedEndpoints()).toEqual({ P01: endpoint });
  });

  it("does not change the registered player when it is rejected for another reason", async () => {
    await new Promise((resolve) => program.close(resolve));
    const noGame = { player_name: "Bob", endpoint, auth_token: systemIds.token(), game_types: ["chess.v1"] };
    expect(await manager.tool("register_player", noGame)).toMatchObject({ status: "REJECTED", error_code: "L001" });
    expect(manager.storedEndpoints()).toEqual({ P01: endpoint });
  });

  it("is rejected under the name of the registered player even if nothing listens there", async () => {
    await new Promise((resolve) => program.close(resolve));
    expect(await register("Ann", endpoint, systemIds.token())).toMatchObject({
      status: "REJECTED",
      error_code: "L003",
    });
  });
});

it("an endpoint that the config lists is not given to another player even if nothing listens there", async () => {
  await manager.stop();
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }], { players: [{ name: "Listed", endpoint }] });
  expect(manager.storedEndpoints()).toEqual({ P01: endpoint });
  await new Promise((resolve) => program.close(resolve));
  expect(await register("Bob", endpoint, systemIds.token())).toMatchObject({ status: "REJECTED", error_code: "L003" });
});

function L004(has_secret?: boolean): object {
  const context = has_secret === undefined ? {} : { has_secret };
  return { error_code: "L004", error_name: "NOT_REGISTERED", message: "no", retryable: false, context };
}

describe("reset_token", () => {
  it("gives a player a new token, and the player keeps its id", async () => {
    const oldToken = systemIds.token();
    await register("Ann", endpoint, oldToken);
    const reset = await manager.tool("reset_token", { player_id: "P01" }, manager.operator);
    expect(reset).toMatchObject({ status: "RESET", player_id: "P01" });
    expect(await register("Ann", endpoint, oldToken)).toMatchObject({ status: "REJECTED", error_code: "L003" });
    const returned = await register("Ann", endpoint, reset.auth_token);
    expect(returned).toMatchObject({ status: "ACCEPTED", player_id: "P01", auth_token: reset.auth_token });
  });

  it("needs the operator token", async () => {
    const token = systemIds.token();
    await register("Ann", endpoint, token);
    for (const caller of [undefined, systemIds.token(), token]) {
      const rejected = await manager.tool("reset_token", { player_id: "P01" }, caller);
      expect(rejected).toMatchObject({ isError: true, error_code: "L004" });
    }
    expect(await register("Ann", endpoint, token)).toMatchObject({ status: "ACCEPTED" });
    const unknown = await manager.tool("reset_token", { player_id: "P09" }, manager.operator);
    expect(unknown).toMatchObject({ isError: true, error_code: "L004", message: "no player P09 is registered" });
  });
});
