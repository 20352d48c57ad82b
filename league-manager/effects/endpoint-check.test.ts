import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { rpcResponse } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { hasLeft } from "./endpoint-check.ts";

const peers = createPeers({ clock: systemClock });
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Whether P01 "Ann" has left if a program at its endpoint answers with this message. */
async function hasLeftIfAnswered(type: MessageType, sender: string, payload: object): Promise<boolean> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    expect(isSignedFor("token", "rps", params.arguments.auth_token)).toBe(true);
    const content = [{ type: "text", text: JSON.stringify(newEnvelope(type, sender, payload)) }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(rpcResponse(id, { content })));
  });
  const port = await listenOnLoopback(server);
  closers.push(() => server.close().closeAllConnections());
  return hasLeftAt(port);
}
/** Whether P01 "Ann" has left, if its endpoint has this port. */
const hasLeftAt = (port: number, dialect = "native"): Promise<boolean> =>
  hasLeft(
    peers,
    systemClock,
    systemIds,
    "rps",
  )({
    id: "P01",
    kind: "player",
    name: "Ann",
    endpoint: `http://127.0.0.1:${port}/mcp`,
    tokenHash: sha256Hex("token"),
    dialect,
  });

const rejection = (context: object = {}) => ({ error_code: "L004", message: "not signed for this player", context });

test.each<[string, boolean, MessageType, string, object]>([
  ["it answers with its id", false, "ACK", "player:P01", {}],
  ["it answers with its name", false, "ACK", "player:Ann", {}],
  ["it answers without an id", false, "ACK", "player:new", {}],
  ["another player answers", true, "ACK", "player:P02", {}],
  ["the receiver rejects the signature", true, "LEAGUE_ERROR", "player:P01", rejection()],
  [
    "a player without a secret cannot check the signature",
    false,
    "LEAGUE_ERROR",
    "player:P01",
    rejection({ has_secret: false }),
  ],
])("if %s, a player has left: %s", async (_, expected, type, sender, payload) => {
  expect(await hasLeftIfAnswered(type, sender, payload)).toBe(expected);
});

test("a player has left if no program listens at its endpoint", async () => {
  expect(await hasLeftAt(await freePort())).toBe(true);
});

test("a player has not left if the message could not be sent", async () => {
  const failing = {
    get: () => Promise.reject(new Error("a native player is asked with a message")),
    message: () => Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" })),
  };
  const player = {
    id: "P01",
    kind: "player",
    name: "Ann",
    endpoint: "http://127.0.0.1:1/mcp",
    tokenHash: "",
    dialect: "native",
  } as const;
  expect(await hasLeft(failing, systemClock, systemIds, "rps")(player)).toBe(false);
});

test.each<[string, boolean]>([
  ["answers any request", false],
  ["does not listen", true],
])("a player of another dialect whose program %s has left: %s", async (state, expected) => {
  const server = createServer((_, response) => response.writeHead(405).end());
  const port = await listenOnLoopback(server);
  closers.push(() => server.close().closeAllConnections());
  if (state === "does not listen") closers.pop()?.();
  expect(await hasLeftAt(port, "league.v1:tool:params")).toBe(expected);
});
