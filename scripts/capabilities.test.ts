import { describe, expect, it } from "vitest";
import { takenFromSystem, takesCapabilities } from "./testing-capabilities.ts";

describe("takenFromSystem", () => {
  it.each([
    ["setTimeout(run, 10);", "time", "setTimeout"],
    ["const timer = setInterval(run, 10);", "time", "setInterval"],
    ["setImmediate(run);", "time", "setImmediate"],
    ["const at = performance.now();", "time", "performance."],
    ["const at = Date.now();", "time", "Date.now"],
    ["const at = new Date().toISOString();", "time", "new Date"],
    ["const signal = AbortSignal.timeout(5);", "time", "AbortSignal.timeout"],
    ['import { setTimeout as wait } from "node:timers/promises";', "time", "node:timers/promises"],
    ['const { setTimeout: wait } = await import("node:timers/promises");', "time", "node:timers/promises"],
    ["const at = systemClock.now();", "the clock of the system", "systemClock"],
    ["const n = Math.random();", "randomness", "Math.random"],
    ["const id = randomUUID();", "randomness", "randomUUID"],
    ["const bytes = crypto.getRandomValues(new Uint8Array(4));", "randomness", "getRandomValues"],
    ['import { createServer } from "node:net";', "the network", "node:net"],
    ['import { type Server, createServer } from "node:http";', "the network", "node:http"],
    ['import Pool from "undici/lib/dispatcher/pool.js";', "the network", "undici/lib/dispatcher/pool.js"],
    ['import { WebSocket } from "ws";', "the network", "ws"],
    ["const answer = await fetch(url);", "the network", "fetch("],
    ['const net = process.getBuiltinModule("node:net");', "the network", "getBuiltinModule"],
  ])("%s", (text, capability, found) => {
    const [told = "", ...more] = takenFromSystem("referee/new.ts", text);
    expect(told).toContain(`referee/new.ts takes ${capability} from the system`);
    expect(told).toContain(found);
    expect(more).toEqual([]);
  });

  it.each([
    ["a comment", "// setTimeout(run, 10)\n/* Date.now() */"],
    ["a string", 'const text = "setTimeout(run, 10)";'],
    ["a date made of a number", "const at = new Date(ms).toISOString();"],
    ["a type", 'import type { RequestListener } from "node:http";\nimport { type Server } from "node:net";'],
    ["a method of another object", "const answer = await client.fetch(url);"],
    ["the argument", "clock.after(10, run);\nawait clock.pause(5);"],
  ])("nothing in %s", (_, text) => {
    expect(takenFromSystem("referee/new.ts", text)).toEqual([]);
  });

  it("lets an implementation take what it gives, and nothing else", () => {
    const text = "setTimeout(run, Math.random());";
    expect(takenFromSystem("shared/lib/clock.ts", text)).toEqual([expect.stringContaining("takes randomness")]);
  });
});

it("files of the system take their capabilities as arguments; tests and tools of their own need not", () => {
  const inside = ["referee/service.ts", "shared/rpc/peer.ts", "scripts/run.ts", "shared/games/simulate.ts"];
  const outside = [
    "referee/host.test.ts",
    "shared/lib/testing-clock.ts",
    "league-manager/testing/scripted-league.ts",
    "scripts/bench.ts",
    "shared/web/client/table.tsx",
  ];
  expect(inside.filter(takesCapabilities)).toEqual(inside);
  expect(outside.filter(takesCapabilities)).toEqual([]);
});
