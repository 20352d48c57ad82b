import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { readBody } from "#shared/rpc/http/request.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { newIdentity } from "./identity.ts";
import { PlayerOptions } from "./options.ts";
import { registerPlayer } from "./registration.ts";

let folder = "";
const cleanups: (() => void | Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "player-registration-"));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  rmSync(folder, { recursive: true });
});

/** Registers a player that polls an inbox, or that is called, with a manager whose answer contains these fields. */
async function registering(answer: object | ((port: number) => object), pull = true) {
  const lines: string[] = [];
  let port = 0;
  const server = createServer((request, response) =>
    readBody(request, 100_000, (body) => {
      const { id, params } = JSON.parse(body ?? "");
      const fields = typeof answer === "function" ? answer(port) : answer;
      const payload = { status: "ACCEPTED", player_id: "P01", auth_token: params.arguments.auth_token, ...fields };
      const envelope = newEnvelope("PLAYER_REGISTER_RESPONSE", "league_manager:LM01", payload);
      response.end(JSON.stringify(rpcResponse(id, textResult(envelope))));
    }),
  );
  port = await listenOnLoopback(server);
  cleanups.push(() => void server.close().closeAllConnections());
  const stopping = new AbortController();
  cleanups.push(() => stopping.abort());
  const self = silentProcess("player", { say: (line) => void lines.push(line) });
  const peers = self.network.createPeers();
  cleanups.push(() => peers.close());
  const manager = `http://127.0.0.1:${port}/mcp`;
  const endpoint = pull ? null : "http://127.0.0.1:8101/mcp";
  const registered = registerPlayer(
    {
      options: PlayerOptions.parse({ bot: "cycle", name: "Ann", manager, dataFolder: folder, pull, endpoint }),
      manager,
      bot: { name: "cycle", readsHistory: false, create: () => ({ choose: () => null }) },
      identity: newIdentity("Ann"),
      peers,
      server: { port: 8101, url: "http://127.0.0.1:8101", isOnEveryAddress: false },
      signal: stopping.signal,
      onRegistered: () => {},
    },
    self,
  );
  return { registered, lines, manager };
}

it.each([
  ["player_id", { player_id: "P01\u001b[2J" }],
  ["player_id", { player_id: "P01\nP02" }],
  ["league_ids.1", { league_ids: ["rps", "rps\u009b2J"] }],
  ["inbox", { inbox: "http://127.0.0.1/\u202einbox" }],
])("an answer with control characters in %s is rejected with an error that names the field", async (field, answer) => {
  const { registered, lines, manager } = await registering(answer);
  await expect(registered).rejects.toThrow(
    `the manager at ${manager} answered PLAYER_REGISTER_RESPONSE, not a registration: payload.${field}: must not contain`,
  );
  await expect(registered).rejects.toThrow(/^[ -~]+$/);
  expect(lines.join("")).toMatch(/^[ -~]+$/);
});

it("an inbox at another host than that of the manager is rejected with an error that names both hosts", async () => {
  const { registered, lines, manager } = await registering({ inbox: "http://attacker.example:8000/inbox/P01" });
  const host = new URL(manager).host;
  await expect(registered).rejects.toThrow(`its host is attacker.example:8000, and that of the manager is ${host}`);
  expect(lines).not.toContainEqual(expect.stringContaining("registered as"));
});

it("an inbox at another port of the manager's host is rejected", async () => {
  const { registered } = await registering((port) => ({ inbox: `http://127.0.0.1:${port ^ 1}/inbox/P01` }));
  await expect(registered).rejects.toThrow("its host is 127.0.0.1:");
});

it.each(["file:///inbox/P01", "no URL"])("an inbox that is not an HTTP URL is rejected: %s", async (inbox) => {
  await expect((await registering({ inbox })).registered).rejects.toThrow(`${inbox}, which is not an HTTP URL`);
});

it("the inbox at the host of the manager is used, also below a path and with TLS", async () => {
  const { registered } = await registering((port) => ({ inbox: `https://127.0.0.1:${port}/league/inbox/P01` }));
  expect((await registered).inbox()?.url).toMatch(/^https:.*\/league\/inbox\/P01$/);
});

it("a player that is called polls no inbox", async () => {
  const { registered } = await registering({ inbox: "http://attacker.example/inbox/P01" }, false);
  expect((await registered).inbox()).toBeNull();
});
