import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { PlayerRegisterResponse } from "#shared/protocol/messages.ts";
import { readBody } from "#shared/rpc/http/request.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { isToken } from "../lib/ids.ts";
import { newEnvelope } from "../protocol/testing/envelope.ts";
import { rpcErrorResponse, rpcResponse, textResult } from "../rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "../rpc/testing/loopback.ts";
import type { AgentProcess } from "./agent.ts";
import { systemDisk } from "./files/disk.ts";
import { acquireToken, register } from "./registration.ts";
import { silentProcess } from "./testing/process.ts";

interface Attempt {
  readonly id: unknown;
  readonly token: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Registers a player with a manager that handles each attempt with `manager`. */
async function registering(
  manager: (attempt: Attempt, tokenFile: string) => void,
  { signal, overrides = {} }: { readonly signal?: AbortSignal; readonly overrides?: Partial<AgentProcess> } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "registration-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, "tokens", "player-Ann");
  const server = createServer((request, response) =>
    readBody(request, 100_000, (body) => {
      const { id, params } = JSON.parse(body ?? "");
      manager({ id, token: params.arguments.auth_token, request, response }, tokenFile);
    }),
  );
  const port = await listenOnLoopback(server);
  cleanups.push(() => void server.close().closeAllConnections());
  const self = silentProcess("player", overrides);
  const peers = self.network.createPeers();
  cleanups.push(() => peers.close());
  const stopping = signal ?? new AbortController().signal;
  const token = acquireToken(self, tokenFile, "player:Ann", stopping);
  const registered = register({
    peers,
    token,
    tokenFile,
    payload: {},
    timeoutMs: 5_000,
    type: "PLAYER_REGISTER_REQUEST",
    sender: "player:Ann",
    manager: `http://127.0.0.1:${port}/mcp`,
    response: PlayerRegisterResponse,
    self,
    signal: stopping,
  });
  return { registered, tokenFile };
}

function reply({ id, response }: Attempt, payload: object): void {
  const envelope = newEnvelope("PLAYER_REGISTER_RESPONSE", "league_manager:LM01", payload);
  response.end(JSON.stringify(rpcResponse(id, textResult(envelope))));
}

it("a registration is repeated after a lost answer and after status 429, with the token that was stored before it was sent", async () => {
  const attempts: { readonly token: string; readonly wasStored: boolean }[] = [];
  const { registered, tokenFile } = await registering((attempt, file) => {
    const { token, request, response } = attempt;
    attempts.push({ token, wasStored: existsSync(file) && readFileSync(file, "utf8").trim() === token });
    if (attempts.length === 1) return request.socket.destroy();
    if (attempts.length === 2) return response.writeHead(429, { "retry-after": "1" }).end("{}");
    return reply(attempt, { status: "ACCEPTED", player_id: "P01", auth_token: token, league_ids: ["l"] });
  });
  const { token } = await registered;
  expect(attempts).toEqual([
    { token, wasStored: true },
    { token, wasStored: true },
    { token, wasStored: true },
  ]);
  expect([isToken(token), statSync(tokenFile).mode & 0o777]).toEqual([true, 0o600]);
});

it.each([502, 503, 504])(
  "a registration is repeated after the status %i of a proxy that cannot reach the manager",
  async (status) => {
    let attempts = 0;
    const { registered } = await registering((attempt) => {
      if (++attempts < 3) return attempt.response.writeHead(status).end("<html>Bad Gateway</html>");
      return reply(attempt, { status: "ACCEPTED", player_id: "P01", auth_token: attempt.token });
    });
    await registered;
    expect(attempts).toBe(3);
  },
);

it("the token in the manager's answer replaces the stored token", async () => {
  const { registered, tokenFile } = await registering((attempt) =>
    reply(attempt, { status: "ACCEPTED", player_id: "P01", auth_token: "the manager's choice" }),
  );
  expect((await registered).token).toBe("the manager's choice");
  expect([systemDisk(systemClock).readSecret(tokenFile), statSync(tokenFile).mode & 0o777]).toEqual([
    "the manager's choice",
    0o600,
  ]);
});

it.each([
  ["a rejection with a token", { status: "REJECTED", auth_token: "a token", reason: "full" }, /: full$/],
  ["an acceptance without a token", { status: "ACCEPTED", player_id: "P01" }, /no reason given/],
  ["an answer with an unknown status", { status: "PERHAPS" }, /not a registration: payload\.status: /],
])("%s is final, and the agent's token stays in its file", async (_, payload, reason) => {
  const sentTokens: string[] = [];
  const { registered, tokenFile } = await registering((attempt) => {
    sentTokens.push(attempt.token);
    reply(attempt, payload);
  });
  await expect(registered).rejects.toThrow(reason);
  expect(sentTokens).toEqual([systemDisk(systemClock).readSecret(tokenFile)]);
});

it("a retryable rejection is reported once, and the agent registers again after one second", async () => {
  const pauses: number[] = [];
  const warnings: string[] = [];
  const pause: Clock["pause"] = async (ms) => pauses.push(ms) > 0;
  let attempts = 0;
  const { registered } = await registering(
    (attempt) =>
      reply(
        attempt,
        ++attempts < 3
          ? { status: "REJECTED", reason: "too\nearly", error_code: "L001", retryable: true }
          : { status: "ACCEPTED", player_id: "P01", auth_token: attempt.token },
      ),
    { overrides: { clock: { ...systemClock, pause }, warn: (line) => warnings.push(line) } },
  );
  expect((await registered).response.player_id).toBe("P01");
  expect(pauses).toEqual([1_000, 1_000]);
  expect(warnings).toEqual(["registration was rejected: too early. Trying again every second"]);
});

it("an agent that is stopped while it waits to register again sends no more requests", async () => {
  const stopping = new AbortController();
  let attempts = 0;
  const { registered } = await registering(
    (attempt) => {
      attempts++;
      reply(attempt, { status: "REJECTED", reason: "too early", error_code: "L001", retryable: true });
    },
    { signal: stopping.signal, overrides: { warn: () => stopping.abort() } },
  );
  await expect(registered).rejects.toThrow("stopped before it was registered");
  expect(attempts).toBe(1);
});

it("a rejected registration names the faulty fields, without JSON", async () => {
  const faults = [
    { path: "payload.display_name", message: "must have at most 100 characters" },
    { path: "payload.league_ids.0", message: "must not\u001b[2J\nbe empty" },
    { path: "", message: "is too old" },
  ];
  const error = { code: -32602, message: "Invalid params", data: { faults } };
  const { registered } = await registering(({ id, response }) =>
    response.end(JSON.stringify(rpcErrorResponse(id, error))),
  );
  const expected =
    "payload.display_name: must have at most 100 characters; payload.league_ids.0: must not [2J be empty; is too old";
  await expect(registered).rejects.toThrow(
    new RegExp(`/mcp rejected the registration: ${expected.replace("[", "\\[")}$`),
  );
});

it("an agent that is stopped during a request sends no more requests", async () => {
  const stopping = new AbortController();
  let attempts = 0;
  const { registered } = await registering(
    () => {
      attempts++;
      stopping.abort();
    },
    { signal: stopping.signal },
  );
  await expect(registered).rejects.toThrow("stopped before it was registered");
  expect(attempts).toBe(1);
});

it("a registration that the manager does not answer soon is reported once", async () => {
  const lines: string[] = [];
  const held: Attempt[] = [];
  const delayed: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      if (ms !== 2_000) return systemClock.after(ms, callback);
      delayed.push(callback);
      return () => {};
    },
  };
  const received = Promise.withResolvers<void>();
  const { registered } = await registering(
    (attempt) => {
      held.push(attempt);
      received.resolve();
    },
    { overrides: { clock, warn: (line) => void lines.push(line) } },
  );
  await received.promise;
  expect(lines).toEqual([]);
  for (const callback of [...delayed, ...delayed]) callback();
  expect(lines).toEqual([
    expect.stringMatching(/^the manager at http:.*\/mcp has not answered the registration yet; waiting for it$/),
  ]);
  const [attempt] = held;
  if (attempt) reply(attempt, { status: "ACCEPTED", player_id: "P01", auth_token: attempt.token, league_ids: ["l"] });
  await registered;
});
