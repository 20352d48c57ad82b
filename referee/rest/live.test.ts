import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { lockFile } from "#shared/store/sqlite.ts";
import { SessionState } from "./openapi.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";

let host: TestHost;
let one: TestAgent;
let two: TestAgent;
let watcher: TestAgent;

beforeAll(async () => {
  host = await startTestHost();
  [one, two, watcher] = await Promise.all([host.agent(), host.agent(), host.agent()]);
});
afterAll(() => host.remove());

const act = (id: string, agent: TestAgent, action: unknown, expected_tick?: number) =>
  host.call("POST", `/sessions/${id}/actions`, { token: agent.token, body: { action, expected_tick } });

interface StreamEvent {
  readonly id: string;
  readonly data: SessionStateDocument;
}
type SessionStateDocument = ReturnType<typeof SessionState.parse>;

/** Opens an event stream. `next` resolves with the next event, or null when the server has ended the stream. */
async function watch(id: string, agent: TestAgent, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await fetch(`${host.url}/sessions/${id}/events`, {
    headers: { authorization: `Bearer ${agent.token}`, ...headers },
    signal: abort.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<StreamEvent | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
        if (field("event") !== "state") continue;
        return { id: field("id"), data: SessionState.parse(JSON.parse(field("data"))) };
      }
      const read = await reader?.read();
      if (!read || read.done) return null;
      text += read.value;
    }
  };
  return { response, next, close: () => abort.abort() };
}

const choicesOf = (event: StreamEvent | null) => (event?.data.state as { choices: unknown } | undefined)?.choices;

describe("GET /sessions/{id}/events", () => {
  let rps: string;
  beforeEach(async () => {
    rps = await host.session("rps.v1", { player_1: one, player_2: two }, { spectators: "public" });
  });

  it("sends each viewer its view after each change and ends with the session", async () => {
    const streams = await Promise.all([watch(rps, one), watch(rps, two), watch(rps, watcher)]);
    for (const { response } of streams) expect(response.headers.get("content-type")).toBe("text/event-stream");
    const begin = await Promise.all(streams.map(({ next }) => next()));
    expect(begin.map((event) => [event?.id, event?.data.your_role])).toEqual([
      ["0", "player_1"],
      ["0", "player_2"],
      ["0", "spectator"],
    ]);
    await act(rps, one, "rock");
    const [ownView, opponentView] = [await streams[0].next(), await streams[1].next()];
    expect([ownView?.data.tick, choicesOf(ownView)]).toEqual([1, { player_1: "rock", player_2: null }]);
    expect([opponentView?.data.tick, choicesOf(opponentView)]).toEqual([1, { player_1: null, player_2: null }]);
    await act(rps, two, "paper");
    const ends = await Promise.all(streams.map(({ next }) => next()));
    // The spectator has received no event for the first choice.
    for (const event of ends) {
      expect([event?.id, event?.data.status]).toEqual(["2", "completed"]);
      expect(choicesOf(event)).toEqual({ player_1: "rock", player_2: "paper" });
    }
    expect(await Promise.all(streams.map(({ next }) => next()))).toEqual([null, null, null]);
  });

  it("continues after the last event id, from the header or the query", async () => {
    const chess = await host.session("chess.v1", { white: one, black: two });
    const moves = ["e2e4", "e7e5", "g1f3", "b8c6"];
    for (const [tick, move] of moves.entries()) await act(chess, tick % 2 ? two : one, move, tick);
    const resumed = await watch(chess, one, { "last-event-id": "1" });
    const missed = [await resumed.next(), await resumed.next(), await resumed.next()];
    expect(missed.map((event) => [event?.id, event?.data.tick])).toEqual([
      ["2", 2],
      ["3", 3],
      ["4", 4],
    ]);
    expect(missed.map((event) => event?.data.state)).toMatchObject(
      ["white", "black", "white"].map((turn) => ({ turn })),
    );
    await act(chess, one, "f1b5", 4);
    expect((await resumed.next())?.id).toBe("5");
    resumed.close();
    const path = `/sessions/${chess}/events?last_event_id=`;
    const rejected = await host.call("GET", `${path}x`, { token: one.token });
    expect(rejected.json.error.code).toBe("INVALID_REQUEST");
  });

  it("a viewer that reconnects in an open turn receives no sealed choice", async () => {
    await act(rps, one, "rock");
    const streams = await Promise.all([
      watch(rps, two, { "last-event-id": "0" }),
      watch(rps, watcher),
      watch(rps, watcher, { "last-event-id": "0" }),
    ]);
    const opponentView = await streams[0].next();
    expect([opponentView?.id, choicesOf(opponentView)]).toEqual(["1", { player_1: null, player_2: null }]);
    const spectators = await streams[1].next();
    expect([spectators?.id, spectators?.data.tick, choicesOf(spectators)]).toEqual([
      "0",
      0,
      { player_1: null, player_2: null },
    ]);
    await act(rps, two, "rock");
    expect((await streams[2].next())?.id).toBe("2"); // the first event of this stream
  });

  it("a completed session is sent as one event, and answered with 204 after its last event", async () => {
    await act(rps, one, "rock");
    await act(rps, two, "rock");
    const late = await watch(rps, watcher);
    expect((await late.next())?.data.status).toBe("completed");
    expect(await late.next()).toBe(null);
    expect((await watch(rps, watcher, { "last-event-id": "2" })).response.status).toBe(204);
  });

  it("an agent without a seat may not read a session without public spectators", async () => {
    const closed = await host.session("rps.v1", { player_1: one, player_2: two });
    for (const leaf of ["events", "state", "log"]) {
      const answer = await host.call("GET", `/sessions/${closed}/${leaf}`, { token: watcher.token });
      expect([answer.status, answer.json.error.code]).toEqual([403, "FORBIDDEN"]);
    }
  });
});

describe("spectators", () => {
  it("receive the view and the log of a spectator, and cannot act", async () => {
    const rps = await host.session("rps.v1", { player_1: one, player_2: two }, { spectators: "public" });
    const read = async (leaf: string) =>
      (await host.call("GET", `/sessions/${rps}/${leaf}`, { token: watcher.token })).json;
    await act(rps, one, "rock");
    expect(await read("state")).toMatchObject({ your_role: "spectator", legal_actions: [], tick: 0 });
    expect(await read("log")).toEqual({ actions: [] });
    expect((await act(rps, watcher, "rock")).json.error.code).toBe("FORBIDDEN");
    await act(rps, two, "paper");
    expect((await read("log")).actions).toHaveLength(2);
  });
});

describe("GET /sessions/{id}/state?wait_after_tick", () => {
  it("answers when the tick is higher", async () => {
    const chess = await host.session("chess.v1", { white: one, black: two });
    const path = (after: number, timeout = 20) =>
      `/sessions/${chess}/state?wait_after_tick=${after}&timeout_s=${timeout}`;
    const waiting = host.call("GET", path(0), { token: two.token });
    await act(chess, one, "e2e4", 0);
    expect((await waiting).json).toMatchObject({ tick: 1, legal_actions: expect.arrayContaining(["e7e5"]) });
    expect((await host.call("GET", path(0), { token: two.token })).json.tick).toBe(1);
    expect((await host.call("GET", path(1, 0), { token: two.token })).json.tick).toBe(1); // the time limit is 0
  });

  it("answers immediately if the session is over", async () => {
    const rps = await host.session("rps.v1", { player_1: one, player_2: two });
    const waiting = host.call("GET", `/sessions/${rps}/state?wait_after_tick=1&timeout_s=20`, { token: one.token });
    await act(rps, one, "rock");
    await act(rps, two, "paper");
    expect((await waiting).json.status).toBe("completed");
    const again = await host.call("GET", `/sessions/${rps}/state?wait_after_tick=99&timeout_s=20`, {
      token: one.token,
    });
    expect(again.json.status).toBe("completed");
  });
});

describe("a host that stops", () => {
  it("answers waiting requests with the current state and ends the streams", async () => {
    const short = await startTestHost();
    const [white, black] = [await short.agent(), await short.agent()];
    const id = await short.session("chess.v1", { white, black });
    const path = `/sessions/${id}/state?wait_after_tick=0&timeout_s=30`;
    const waiting = short.call("GET", path, { token: white.token });
    const stream = short.call("GET", `/sessions/${id}/events`, { token: black.token });
    await vi.waitFor(async () => {
      const { text } = await short.call("GET", "/metrics");
      expect(text).toContain("host_event_streams 1");
    }, WAIT_OPTIONS);
    await short.remove();
    expect((await waiting).json).toMatchObject({ status: "active", tick: 0 });
    expect((await stream).text).toContain("event: state");
  });
});

describe("a data file", () => {
  it("is locked by one host until it stops", async () => {
    const first = await startTestHost();
    const again = { dataFolder: first.dataFolder };
    const lock = lockFile(join(first.dataFolder, `referee-${first.port}.sqlite`));
    expect(lock).toBe(null);
    await first.stop();
    const second = await startTestHost({ ...again, port: first.port });
    await second.remove();
  });

  it("of another version of this program makes the start fail and closes the port", async () => {
    const first = await startTestHost();
    await first.stop();
    const file = join(first.dataFolder, `referee-${first.port}.sqlite`);
    const db = new DatabaseSync(file);
    db.exec("ALTER TABLE agents RENAME COLUMN token TO secret");
    db.close();
    const again = startTestHost({ dataFolder: first.dataFolder, port: first.port });
    await expect(again).rejects.toThrow(`${file} was made by another version of this program`);
    await expect(fetch(`http://127.0.0.1:${first.port}/health`)).rejects.toThrow("fetch failed");
    rmSync(first.dataFolder, { recursive: true });
  });
});

describe("an idle session", () => {
  it("does not reveal a sealed choice when it expires in an open turn", async () => {
    const short = await startTestHost({ expireAfterMs: 400 });
    try {
      const [one, two] = [await short.agent(), await short.agent()];
      const id = await short.session("rps.v1", { player_1: one, player_2: two });
      const body = { action: "rock" };
      await short.call("POST", `/sessions/${id}/actions`, { token: one.token, body });
      const path = `/sessions/${id}/state?wait_after_tick=1&timeout_s=20`;
      const end = (await short.call("GET", path, { token: two.token })).json;
      expect(end).toMatchObject({ termination: "expired", state: { choices: { player_1: null } } });
      const log = async ({ token }: TestAgent) => (await short.call("GET", `/sessions/${id}/log`, { token })).json;
      expect([(await log(one)).actions.length, (await log(two)).actions.length]).toEqual([1, 0]);
    } finally {
      await short.remove();
    }
  });

  it("expires with an entry in the log, and waiting requests are answered", async () => {
    const short = await startTestHost({ expireAfterMs: 300 });
    try {
      const [white, black] = [await short.agent(), await short.agent()];
      const id = await short.session("chess.v1", { white, black });
      const path = `/sessions/${id}/state?wait_after_tick=0&timeout_s=20`;
      const waiting = await short.call("GET", path, { token: white.token });
      expect(waiting.json).toMatchObject({ status: "completed", tick: 0, termination: "expired", legal_actions: [] });
      const body = { action: "e2e4", expected_tick: 0 };
      const late = await short.call("POST", `/sessions/${id}/actions`, { token: white.token, body });
      expect([late.status, late.json.error]).toEqual([
        400,
        { code: "INVALID_ACTION", message: "The session has expired" },
      ]);
      const db = new DatabaseSync(join(short.dataFolder, `referee-${short.port}.sqlite`), { readOnly: true });
      expect(db.prepare("SELECT type FROM log ORDER BY seq").all()).toMatchObject([
        { type: "created" },
        { type: "expired" },
      ]);
      expect(db.prepare("SELECT status FROM sessions").get()).toMatchObject({ status: "completed" });
      db.close();
    } finally {
      await short.remove();
    }
  });
});
