import { Server } from "node:http";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import { systemClock } from "../lib/clock.ts";
import { manualClock } from "../lib/testing/clock.ts";
import { httpNetwork } from "../rpc/network.ts";
import { listen } from "./agent-server.ts";
import { StartError } from "./process/exit.ts";

const network = httpNetwork(systemClock);
afterEach(() => vi.restoreAllMocks());

function optionsWith(lines: string[], ports: readonly number[]): ListenOptions {
  return {
    log: pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) }),
    host: "127.0.0.1",
    ports,
    isReady: () => true,
    handler: async () => ({ status: 200, body: "{}" }),
    web: () => Promise.reject(),
  };
}

test("a listening server logs each of its errors and continues to listen", async () => {
  const spy = vi.spyOn(Server.prototype, "listen");
  const lines: string[] = [];
  const listening = await listen(network, optionsWith(lines, [0]));
  const server = spy.mock.contexts[0] as Server;
  server.emit("error", new Error("accept ENFILE"));
  server.emit("error", new Error("accept ENOMEM"));
  expect(lines.map((line) => JSON.parse(line).err.message)).toEqual(["accept ENFILE", "accept ENOMEM"]);
  expect((await fetch(`${listening.url}/health`)).status).toBe(200);
  await listening.close();
});

test("a port in use is skipped, and named in the error if no other port is free", async () => {
  const first = await listen(network, optionsWith([], [0]));
  const second = await listen(network, optionsWith([], [first.port, 0]));
  expect(second.port).not.toBe(first.port);
  const none = listen(network, optionsWith([], [first.port]));
  await expect(none).rejects.toThrow(new StartError(`port ${first.port} on 127.0.0.1 is already in use`).message);
  await Promise.all([first.close(), second.close()]);
});

test("a closed server has no pending timer", async () => {
  const clock = manualClock();
  const listening = await listen(httpNetwork(clock), optionsWith([], [0]));
  await fetch(`${listening.url}/mcp`, { method: "POST", body: "{}" });
  expect(clock.timers()).toBe(1);
  await listening.close();
  expect(clock.timers()).toBe(0);
});

test("rejected requests are logged without tokens", async () => {
  const lines: string[] = [];
  const listening = await listen(network, optionsWith(lines, [0]));
  await fetch(`${listening.url}/mcp`, { method: "POST", body: "{}", headers: { authorization: "Bearer secret" } });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ code: 415, request: "POST /mcp", from: "127.0.0.1" });
  expect(lines.join("")).not.toContain("secret");
  for (let more = 0; more < 6; more++) await fetch(`${listening.url}/mcp`, { method: "POST", body: "{}" });
  await listening.close();
  expect(lines).toHaveLength(6);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ left_out: 2 });
});
