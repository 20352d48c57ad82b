/** Invariants of the store: reading does not write, and the log is never rewritten. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { databaseOf, type Observer, observe } from "./testing/observer.ts";
import { expectRejection, sessionClient } from "./testing/rest.ts";

let host: TestHost;
let observer: Observer;
let client: ReturnType<typeof sessionClient>;
let one: TestAgent;
let two: TestAgent;
let outsider: TestAgent;
let chess: string;
let rps: string;

beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
  client = sessionClient(host);
  [one, two, outsider] = await Promise.all([host.agent(), host.agent(), host.agent()]);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});
beforeEach(async () => {
  chess = await host.session("chess.v1", { white: one, black: two });
  rps = await host.session("rps.v1", { player_1: one, player_2: two });
});

const play = (moves: readonly string[]) => client.play(chess, [one, two], moves);

describe("7. No state mutation by read", () => {
  it("no GET request writes to the database", async () => {
    await play(["e2e4"]);
    await client.act(rps, one, "rock");
    const files = [databaseOf(host), `${databaseOf(host)}-wal`];
    const snapshot = () => [observer.version(), observer.dump(), ...files.map((file) => sha256Hex(readFileSync(file)))];
    const before = snapshot();
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
    const requests = [...about, ...others].flatMap((path) =>
      [one, two, outsider].map(({ token }) => ({ path, token })),
    );
    await Promise.all(
      requests.map(async ({ path, token }) => {
        const signal = AbortSignal.timeout(WAIT_MS);
        const answer = await fetch(host.url + path, { headers: { authorization: `Bearer ${token}` }, signal });
        expect([200, 403, 404]).toContain(answer.status);
        if (path.includes("/events")) await answer.body?.cancel();
        else await answer.text();
      }),
    );
    expect(snapshot()).toEqual(before);
  });

  it.each(["state", "log", "events"])(
    "HEAD of %s has the answer of GET without the body, and the connection is closed",
    async (leaf) => {
      const before = observer.dump();
      const socket = connect(host.port, "127.0.0.1");
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      const ended = once(socket, "end", { signal: AbortSignal.timeout(WAIT_MS) });
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
  const FORBIDDEN_SQL = [
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

  it("another connection to the database cannot change, remove or replace an entry", async () => {
    await play(["e2e4", "e7e5"]);
    const before = [await client.log(chess, one), observer.dump()];
    for (const recursive of ["OFF", "ON"]) {
      const db = new DatabaseSync(databaseOf(host));
      db.exec(`PRAGMA recursive_triggers = ${recursive}`);
      for (const sql of FORBIDDEN_SQL) expect(() => db.exec(sql), sql).toThrow(/append-only|follow|view|FOREIGN KEY/);
      db.close();
    }
    expect([await client.log(chess, one), observer.dump()]).toEqual(before);
  });

  it("REST has no routes that change the log", async () => {
    await play(["e2e4"]);
    const before = observer.dump();
    const paths = ["", "/log", "/log/0", "/state", "/actions", "/actions/0"].map((leaf) => `/sessions/${chess}${leaf}`);
    for (const path of [...paths, "/sessions", "/agents", `/agents/${one.agent_id}`]) {
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        expectRejection(await host.call(method, path, { token: one.token, body: { actions: [] } }), 404, "NOT_FOUND");
      }
    }
    expectRejection(
      await host.call("POST", `/sessions/${chess}/log`, { token: one.token, body: {} }),
      404,
      "NOT_FOUND",
    );
    expect(observer.dump()).toBe(before);
  });

  it("existing entries do not change when the log grows", async () => {
    let before: unknown[] = [];
    for (const [tick, move] of ["e2e4", "e7e5", "g1f3", "b8c6"].entries()) {
      await client.act(chess, tick % 2 ? two : one, move, tick);
      const now = await client.log(chess, one);
      expect([now.length, now.slice(0, tick)]).toEqual([tick + 1, before]);
      before = now;
    }
  });
});
