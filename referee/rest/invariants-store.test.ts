/** Invariants of what is stored: reading writes nothing, and nothing rewrites the log. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { databaseOf, type Observer, observe, refused, tableOf } from "./testing/rest.ts";

let host: TestHost;
let observer: Observer;
let table: ReturnType<typeof tableOf>;
let one: TestAgent;
let two: TestAgent;
let stranger: TestAgent;
let chess: string;
let rps: string;

beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
  table = tableOf(host);
  [one, two, stranger] = await Promise.all([host.agent(), host.agent(), host.agent()]);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});
beforeEach(async () => {
  chess = await host.session("chess.v1", { white: one, black: two });
  rps = await host.session("rps.v1", { player_1: one, player_2: two });
});

const play = (moves: readonly string[]) => table.play(chess, [one, two], moves);

describe("7. No state mutation by read", () => {
  it("no GET writes a byte", async () => {
    await play(["e2e4"]);
    await table.act(rps, one, "rock");
    const files = [databaseOf(host), `${databaseOf(host)}-wal`];
    const look = () => [observer.version(), observer.dump(), ...files.map((file) => sha256Hex(readFileSync(file)))];
    const before = look();
    const polls = ["", "?wait_after_tick=0", "?wait_after_tick=1&timeout_s=1"].map((query) => `/state${query}`);
    const leaves = [...polls, "/log", "/actions", "/events", "/events?last_event_id=0", ""];
    const about = [chess, rps].flatMap((id) => leaves.map((leaf) => `/sessions/${id}${leaf}`));
    const others = [
      "/sessions",
      `/sessions?agent_id=${one.agent_id}`,
      "/health",
      "/ready",
      "/metrics",
      "/openapi.json",
    ];
    const asked = [...about, ...others].flatMap((path) => [one, two, stranger].map(({ token }) => ({ path, token })));
    await Promise.all(
      asked.map(async ({ path, token }) => {
        const signal = AbortSignal.timeout(2_000);
        const answer = await fetch(host.url + path, { headers: { authorization: `Bearer ${token}` }, signal });
        expect([200, 403, 404]).toContain(answer.status);
        if (path.includes("/events")) await answer.body?.cancel();
        else await answer.text();
      }),
    );
    expect(look()).toEqual(before);
  });

  it.each(["state", "log", "events"])(
    "HEAD of %s is answered as GET is, without its body, and then over",
    async (leaf) => {
      const before = observer.dump();
      const socket = connect(host.port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      const ended = once(socket, "end", { signal: AbortSignal.timeout(2_000) });
      const head = [
        `HEAD /sessions/${chess}/${leaf} HTTP/1.1`,
        "Host: 127.0.0.1",
        `Authorization: Bearer ${one.token}`,
      ];
      socket.write(`${[...head, "Connection: close"].join("\r\n")}\r\n\r\n`);
      await ended;
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^{]*\r\n\r\n$/);
      expect(observer.dump()).toBe(before);
    },
  );
});

describe("8. No log mutation", () => {
  const REFUSED = [
    "UPDATE log SET body = replace(body, 'e2e4', 'd2d4')",
    "UPDATE OR REPLACE log SET seq = 0",
    "UPDATE log SET seq = seq + 10",
    "DELETE FROM log",
    "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)",
    "REPLACE INTO log SELECT stream, seq, type, replace(body, 'e2e4', 'd2d4'), prev_hash, hash FROM log",
    "REPLACE INTO log (rowid, stream, seq, type, body, prev_hash, hash) SELECT rowid, stream, seq + 100, type, body, prev_hash, hash FROM log",
    "INSERT INTO log SELECT stream, seq + 100, type, body, prev_hash, hash FROM log",
    "INSERT INTO log SELECT * FROM log WHERE true ON CONFLICT DO UPDATE SET body = ''",
    "UPDATE actions SET action = '\"d2d4\"'",
    "DELETE FROM actions",
    "INSERT INTO actions (session_id) VALUES ('x')",
    "DELETE FROM sessions",
    "DELETE FROM streams",
    "UPDATE streams SET name = 'x'",
  ];

  it("another connection to the database may neither change, nor remove, nor replace an entry", async () => {
    await play(["e2e4", "e7e5"]);
    const before = [await table.log(chess, one), observer.dump()];
    for (const recursive of ["OFF", "ON"]) {
      const db = new DatabaseSync(databaseOf(host));
      db.exec(`PRAGMA recursive_triggers = ${recursive}`);
      for (const sql of REFUSED) expect(() => db.exec(sql), sql).toThrow(/append-only|follow|view|FOREIGN KEY/);
      db.close();
    }
    expect([await table.log(chess, one), observer.dump()]).toEqual(before);
  });

  it("REST has no such route", async () => {
    await play(["e2e4"]);
    const before = observer.dump();
    const paths = ["", "/log", "/log/0", "/state", "/actions", "/actions/0"].map((leaf) => `/sessions/${chess}${leaf}`);
    for (const path of [...paths, "/sessions", "/agents", `/agents/${one.agent_id}`]) {
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        refused(await host.call(method, path, { token: one.token, body: { actions: [] } }), 404, "NOT_FOUND");
      }
    }
    refused(await host.call("POST", `/sessions/${chess}/log`, { token: one.token, body: {} }), 404, "NOT_FOUND");
    expect(observer.dump()).toBe(before);
  });

  it("what is in the log stays as it is while the log grows", async () => {
    let before: unknown[] = [];
    for (const [tick, move] of ["e2e4", "e7e5", "g1f3", "b8c6"].entries()) {
      await table.act(chess, tick % 2 ? two : one, move, tick);
      const now = await table.log(chess, one);
      expect([now.length, now.slice(0, tick)]).toEqual([tick + 1, before]);
      before = now;
    }
  });
});
