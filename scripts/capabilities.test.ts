import { describe, expect, it } from "vitest";
import { mustTakeCapabilities, systemUses } from "./testing/capabilities.ts";
import { impurities } from "./testing/purity.ts";

describe("systemUses", () => {
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
    ["queueMicrotask(run);", "time", "queueMicrotask"],
    ["process.nextTick(run);", "time", "process.nextTick"],
    ["const at = systemClock.now();", "the clock of the system", "systemClock"],
    ['import { networkInterfaces } from "node:os";', "the interfaces of this machine", "networkInterfaces"],
    ["const { eth0 } = os.networkInterfaces();", "the interfaces of this machine", "networkInterfaces"],
    ["const host = wildcardHost(readInterfaces());", "the interfaces of this machine", "readInterfaces"],
    ["const SCHEMA = `CREATE TABLE t (at TEXT DEFAULT (datetime('now')))`;", "time", "'now'"],
    [`const sql = "INSERT INTO t VALUES (unixepoch('now'))";`, "time", "'now'"],
    ["const sql = `SELECT datetime()`;", "time", "datetime()"],
    ['const sql = "INSERT INTO t VALUES (CURRENT_TIMESTAMP)";', "time", "CURRENT_TIMESTAMP"],
    ["const n = Math.random();", "randomness", "Math.random"],
    ["const id = randomUUID();", "randomness", "randomUUID"],
    ["const bytes = crypto.getRandomValues(new Uint8Array(4));", "randomness", "getRandomValues"],
    ["const token = systemIds.token();", "the randomness of the system", "systemIds"],
    ['import { createServer } from "node:net";', "the network", "node:net"],
    ['import { type Server, createServer } from "node:http";', "the network", "node:http"],
    ['import Pool from "undici/lib/dispatcher/pool.js";', "the network", "undici/lib/dispatcher/pool.js"],
    ['import { WebSocket } from "ws";', "the network", "ws"],
    ["const answer = await fetch(url);", "the network", "fetch"],
    ["const answer = await globalThis.fetch(url);", "the network", "globalThis.fetch"],
    ['const answer = await globalThis["fetch"](url);', "the network", "globalThis["],
    ["const get = options.get ?? fetch;", "the network", "fetch"],
    ["const client = createClient({ fetch });", "the network", "fetch"],
    ['const net = process.getBuiltinModule("node:net");', "the network", "getBuiltinModule"],
    ["const files = systemDisk(clock);", "the disk", "systemDisk"],
    ["const store = openLockedStore(file, SCHEMA, clock, onLost);", "the disk", "openLockedStore"],
    ["const lock = lockFile(file);", "the disk", "lockFile"],
    ['import { openSqlite } from "#shared/store/sqlite.ts";', "the disk", "openSqlite"],
    ["const writer = threadWriter(file, onDeath, clock);", "the disk", "threadWriter"],
    ["const writer = localWriter(db, clock);", "the disk", "localWriter"],
  ])("reports %s", (text, capability, found) => {
    const [report = "", ...otherReports] = systemUses("referee/new.ts", text);
    expect(report).toContain(`referee/new.ts takes ${capability} from the system`);
    expect(report).toContain(found);
    expect(otherReports).toEqual([]);
  });

  it.each([
    ["a comment", "// setTimeout(run, 10)\n/* Date.now() */"],
    ["a string", 'const text = "setTimeout(run, 10)";'],
    ["a date computed from a number", "const at = new Date(ms).toISOString();"],
    ["a type", 'import type { RequestListener } from "node:http";\nimport { type Server } from "node:net";'],
    ["a method of another object", "const answer = await client.fetch(url);\nserve({ fetch: handler });"],
    [
      "SQL with a time as parameter",
      "const sql = \"UPDATE t SET at = datetime(?) WHERE at < datetime(?, '-7 days')\";",
    ],
    ["SQL in a comment", "// datetime('now')"],
    ["a call of an argument", "clock.after(10, run);\nawait clock.pause(5);"],
  ])("reports nothing for %s", (_, text) => {
    expect(systemUses("referee/new.ts", text)).toEqual([]);
  });

  it("exempts an implementation from the rule of its capability only", () => {
    const text = "setTimeout(run, Math.random());";
    expect(systemUses("shared/lib/clock.ts", text)).toEqual([expect.stringContaining("takes randomness")]);
  });
});

describe("impurities", () => {
  const PATH = "league-manager/agents/new.ts";

  it.each([
    ['import { bareHost } from "#shared/rpc/peer/peer.ts";', "imports #shared/rpc/peer/peer.ts"],
    ['import { openSqlite } from "#shared/store/sqlite.ts";', "imports #shared/store/sqlite.ts"],
    ['import { StartError } from "#shared/runtime/process/exit.ts";', "imports #shared/runtime/process/exit.ts"],
    ['import { Rounds } from "../effects/rounds.ts";', "imports ../effects/rounds.ts"],
    ['import { openLedger } from "../store/ledger.ts";', "imports ../store/ledger.ts"],
    ['import { createApi } from "../api/api.ts";', "imports ../api/api.ts"],
    ['import { type Config, admissionPolicy } from "../config.ts";', "imports ../config.ts"],
    ['export { openLedger } from "../store/ledger.ts";', "imports ../store/ledger.ts"],
    ['import "../store/ledger.ts";', "imports ../store/ledger.ts"],
    ['const { openLedger } = await import("../store/ledger.ts");', "imports ../store/ledger.ts"],
    ['import { readFileSync } from "node:fs";', "imports node:fs"],
    ['import { hash } from "node:crypto";', "imports node:crypto"],
    ['import { once } from "node:events";', "imports node:events"],
    ['import express from "express";', "imports express"],
    ['import { isToken, systemIds } from "#shared/lib/ids.ts";', "draws random values by systemIds"],
    ['import { newRunSuffix } from "#shared/lib/ids.ts";', "draws random values by newRunSuffix"],
    ["const seed = process.env.SEED;", "uses process"],
    ["names.sort((a, b) => a.localeCompare(b));", "uses localeCompare"],
    ["const text = at.toLocaleString();", "uses toLocaleString"],
    ["const hour = new Date(at).getHours();", "uses .getHours"],
    ["console.log(at);", "uses console"],
  ])("reports %s", (text, found) => {
    expect(impurities(PATH, text)).toEqual([`${PATH} ${found}`]);
  });

  it.each([
    [
      "types",
      'import type { Config } from "#shared/runtime/config/config.ts";\nimport { type Ledger } from "../ledger.ts";',
    ],
    [
      "pure folders",
      'import { ok } from "#shared/lib/result.ts";\nimport { evolveLeague } from "../league/evolve.ts";',
    ],
    ["a file of the same folder", 'import { evolveAgent } from "./evolve.ts";'],
    ["pure libraries", 'import { isDeepStrictEqual } from "node:util";\nimport { z } from "zod";'],
    ["ids that are not random", 'import { type Ids, playerId } from "#shared/lib/ids.ts";'],
    ["dates in UTC", "const day = new Date(at).getUTCDate();"],
    ["a comment", "// process.env is not read here"],
  ])("reports nothing for %s", (_, text) => {
    expect(impurities(PATH, text)).toEqual([]);
  });

  it("allows node:crypto in shared/lib", () => {
    expect(impurities("shared/lib/new.ts", 'import { hash } from "node:crypto";')).toEqual([]);
  });
});

describe("mustTakeCapabilities", () => {
  it("applies to files of the system, and not to tests, development tools and browser code", () => {
    const inside = ["referee/service.ts", "shared/rpc/peer/peer.ts", "scripts/run/run.ts", "shared/games/rps.ts"];
    const outside = [
      "referee/host.test.ts",
      "shared/lib/testing/clock.ts",
      "league-manager/testing/scripted-league.ts",
      "scripts/bench/bench.ts",
      "shared/web/play/game-page.tsx",
    ];
    expect(inside.filter(mustTakeCapabilities)).toEqual(inside);
    expect(outside.filter(mustTakeCapabilities)).toEqual([]);
  });
});
