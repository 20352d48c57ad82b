/** Concurrent requests, and requests whose reply was lost. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { CreatedSession } from "./openapi.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { type Observer, observe } from "./testing/observer.ts";
import { expectRejection, sessionClient } from "./testing/rest.ts";

const REPEATS = 50;

let host: TestHost;
let observer: Observer;
let client: ReturnType<typeof sessionClient>;
/** Plays white and player_1. */
let one: TestAgent;
/** Plays black and player_2. */
let two: TestAgent;
let chess: string;

const start = async (options: { port?: number; dataFolder?: string } = {}): Promise<void> => {
  host = await startTestHost(options);
  observer = observe(host);
  client = sessionClient(host);
};
beforeAll(async () => {
  await start();
  [one, two] = await Promise.all([host.agent(), host.agent()]);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});
beforeEach(async () => {
  chess = await newChess();
});

const newChess = () => host.session("chess.v1", { white: one, black: two });
const newRps = () => host.session("rps.v1", { player_1: one, player_2: two });
const act = (...args: Parameters<typeof client.act>) => client.act(...args);
const times = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => create(index));
/** The actions of a session in the log, each with its role. */
const entries = (id: string): unknown[] =>
  observer
    .rows("SELECT role, json_extract(action, '$') AS action FROM actions WHERE session_id = ? ORDER BY tick", id)
    .map(({ role, action }) => `${role} ${action}`);

/** Stops the host and starts it again with the same port and data. */
async function restart(): Promise<void> {
  const { port, dataFolder } = host;
  observer.close();
  await host.stop();
  // These requests fail, and fetch removes the broken connections from its pool.
  const answers = await Promise.allSettled(times(40, () => fetch(`${host.url}/health`)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toEqual([]);
  await start({ port, dataFolder });
}

describe("concurrent actions of two clients", () => {
  it("chess: one move is accepted and the other is CONFLICT", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newChess();
      const moves = ["e2e4", "d2d4"];
      const answers = await Promise.all(moves.map((move) => act(id, one, move, 0)));
      const won = answers.findIndex(({ status }) => status === 200);
      const lost = answers.toSpliced(won, 1);
      expect([won >= 0, lost.length]).toEqual([true, 1]);
      for (const answer of lost) expectRejection(answer, 409, "CONFLICT");
      expect(entries(id)).toEqual([`white ${moves[won]}`]);
    }
  });

  it("chess: moves of both sides are accepted in the order of turns", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newChess();
      const [white, black] = await Promise.all([act(id, one, "e2e4", 0), act(id, two, "e7e5", 1)]);
      expect(white.status).toBe(200);
      if (black.status === 200) expect(black.json.tick).toBe(2);
      else expectRejection(black, 409, "CONFLICT");
      expect(entries(id)).toEqual(["white e2e4", "black e7e5"].slice(0, black.status === 200 ? 2 : 1));
    }
  });

  it("rps: both choices are accepted, and the first answer does not contain the second choice", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newRps();
      const answers = await Promise.all([act(id, one, "rock"), act(id, two, "paper")]);
      const [first, second] = answers.map(({ json }) => json).toSorted((a, b) => a.tick - b.tick);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect([first.tick, first.status, first.state.phase]).toEqual([1, "active", "commit"]);
      expect(Object.values(first.state.choices)).toContain(null);
      expect([second.tick, second.status, second.state.result]).toEqual([2, "completed", "player_2_wins"]);
      expect(entries(id).sort()).toEqual(["player_1 rock", "player_2 paper"]);
    }
  });

  it("rps: one of two choices of a player is accepted", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newRps();
      const answers = await Promise.all([act(id, one, "rock"), act(id, one, "paper")]);
      const [taken, late] = answers.toSorted((a, b) => a.status - b.status);
      expect(taken?.status).toBe(200);
      expectRejection(late ?? answers[0], 400, "ALREADY_ACTED");
      expect(entries(id)).toEqual([`player_1 ${taken?.json.state.choices.player_1}`]);
    }
  });
});

describe("a request whose reply was lost", () => {
  /** Sends an action and closes the connection without reading the reply when `moment` resolves. */
  async function loseReply(id: string, agent: TestAgent, key: string, body: object, moment: () => Promise<unknown>) {
    const text = JSON.stringify(body);
    const socket = connect(host.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    const head = [
      `POST /sessions/${id}/actions HTTP/1.1`,
      `Host: 127.0.0.1:${host.port}`,
      `Authorization: Bearer ${agent.token}`,
      `Idempotency-Key: ${key}`,
      `Content-Length: ${text.length}`,
    ];
    await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n${text}`, resolve));
    await moment();
    socket.destroy();
  }
  const move = { action: "e2e4", expected_tick: 0 };

  it("gets the same reply when it is repeated, even after further moves and a restart", async () => {
    const written = () => vi.waitFor(() => expect(entries(chess)).toHaveLength(1), { ...WAIT_OPTIONS, interval: 1 });
    await loseReply(chess, one, "lost", move, written);
    const again = await act(chess, one, "e2e4", 0, "lost");
    expect([again.status, again.json]).toMatchObject([200, { tick: 1, status: "active", state: { turn: "black" } }]);
    await act(chess, two, "e7e5", 1, "lost"); // keys are separate for each agent
    expect((await act(chess, one, "e2e4", 0, "lost")).text).toBe(again.text);
    await restart();
    const later = await act(chess, one, "e2e4", 0, "lost");
    expect([later.status, later.text]).toEqual([200, again.text]);
    expect(entries(chess)).toEqual(["white e2e4", "black e7e5"]);
    expect((await client.state(chess, one)).tick).toBe(2);
  });

  it("makes one entry when it is repeated, whenever the connection broke", async () => {
    for (let repeat = 0; repeat < 20; repeat++) {
      const id = await newChess();
      const waits = [async () => {}, () => new Promise(setImmediate), () => new Promise((done) => setTimeout(done, 1))];
      await loseReply(id, one, `broken ${repeat}`, move, waits[repeat % 3] ?? (async () => {}));
      const again = await act(id, one, "e2e4", 0, `broken ${repeat}`);
      expect([again.status, again.json.tick]).toEqual([200, 1]);
      expect(entries(id)).toEqual(["white e2e4"]);
    }
  });

  it("is applied once or not at all by a host that is stopped during requests", async () => {
    const ids = await Promise.all(times(20, newChess));
    const send = () => Promise.allSettled(ids.map((id) => act(id, one, "e2e4", 0, `stopped ${id}`)));
    const first = send();
    await new Promise(setImmediate);
    await restart();
    const early = await first;
    const late = await send();
    for (const [index, settled] of late.entries()) {
      const before = early[index];
      const [answer, reply] = [settled, before].map((one) => (one?.status === "fulfilled" ? one.value : null));
      expect([answer?.status, answer?.json.tick]).toEqual([200, 1]);
      if (reply) expect(reply.text).toBe(answer?.text);
      expect(entries(ids[index] ?? "")).toEqual(["white e2e4"]);
    }
  });

  it("is CONFLICT or ALREADY_ACTED when it is repeated without its key", async () => {
    const rps = await newRps();
    await act(chess, one, "e2e4", 0, "with a key");
    await act(rps, one, "rock", undefined, "with another");
    expectRejection(await act(chess, one, "e2e4", 0), 409, "CONFLICT");
    expectRejection(await act(rps, one, "rock"), 400, "ALREADY_ACTED");
    expectRejection(await act(chess, one, "e2e4", 0, "a new key"), 409, "CONFLICT");
    expectRejection(await act(rps, one, "rock", undefined, "a newer key"), 400, "ALREADY_ACTED");
  });
});

describe("an idempotency key", () => {
  it("is INVALID_REQUEST with another request", async () => {
    const other = await newChess();
    await act(chess, one, "e2e4", 0, "one request");
    const body = (text: string) => ({ token: one.token, headers: { "idempotency-key": "one request" }, body: text });
    const path = `/sessions/${chess}/actions`;
    const bodies = ['{"action":"d2d4","expected_tick":0}', '{"action":"e2e4","expected_tick":1}', "{}", "no JSON"];
    for (const text of bodies) expectRejection(await host.call("POST", path, body(text)), 400, "INVALID_REQUEST");
    expectRejection(await act(other, one, "e2e4", 0, "one request"), 400, "INVALID_REQUEST");
    const created = { template: "chess.v1", participants: { white: one.agent_id, black: two.agent_id } };
    expectRejection(await host.call("POST", "/sessions", body(JSON.stringify(created))), 400, "INVALID_REQUEST");
    expect([entries(chess), entries(other)]).toEqual([["white e2e4"], []]);
  });

  it("in 20 concurrent requests makes one entry and 20 equal replies", async () => {
    const rps = await newRps();
    const moves = await Promise.all(times(20, () => act(chess, one, "e2e4", 0, "chess, concurrent")));
    const choices = await Promise.all(times(20, () => act(rps, one, "rock", undefined, "rps, concurrent")));
    for (const answers of [moves, choices]) {
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 200, json: { tick: 1 } });
    }
    expect([entries(chess), entries(rps)]).toEqual([["white e2e4"], ["player_1 rock"]]);
  });

  it("in 20 concurrent requests with two bodies belongs to one of the bodies", async () => {
    const moves = ["e2e4", "d2d4"];
    const answers = await Promise.all(times(20, (at) => act(chess, one, moves[at % 2], 0, "two bodies")));
    const [won = "", ...more] = entries(chess);
    expect(more).toEqual([]);
    for (const [at, answer] of answers.entries()) {
      if (won === `white ${moves[at % 2]}`) expect([answer.status, answer.json.tick]).toEqual([200, 1]);
      else expectRejection(answer, 400, "INVALID_REQUEST");
    }
  });

  it("is separate for each agent", async () => {
    const rps = await newRps();
    const body = { token: one.token, headers: { "idempotency-key": "shared" }, body: { action: "rock" } };
    const path = `/sessions/${rps}/actions`;
    const first = await host.call("POST", path, body);
    const second = await host.call("POST", path, { ...body, token: two.token });
    expect([first.json.tick, second.json.tick]).toEqual([1, 2]);
    // Each agent gets its own reply.
    expect([first.text, second.text]).toEqual([
      (await host.call("POST", path, body)).text,
      (await host.call("POST", path, { ...body, token: two.token })).text,
    ]);
  });

  it("of a rejected action can be used again", async () => {
    expectRejection(await act(chess, two, "e7e5", 1, "early"), 409, "CONFLICT");
    expectRejection(await act(chess, one, "e2e5", 0, "illegal"), 400, "INVALID_ACTION");
    expect((await act(chess, one, "e2e4", 0, "illegal")).json).toMatchObject({ tick: 1 });
    const late = await act(chess, two, "e7e5", 1, "early");
    expect([late.status, late.json.tick]).toEqual([200, 2]);
    expect((await act(chess, two, "e7e5", 1, "early")).text).toBe(late.text);
    expect(entries(chess)).toEqual(["white e2e4", "black e7e5"]);
  });

  it("creates one session, even if the request is repeated after a restart", async () => {
    const participants = { white: one.agent_id, black: two.agent_id };
    const request = {
      token: one.token,
      headers: { "idempotency-key": "new" },
      body: { template: "chess.v1", participants },
    };
    const count = () => Number(observer.value("SELECT count(*) FROM sessions"));
    const before = count();
    const answers = await Promise.all(times(20, () => host.call("POST", "/sessions", request)));
    await restart();
    answers.push(await host.call("POST", "/sessions", request));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const { session_id } = CreatedSession.parse(answers[0]?.json);
    expect([answers[0]?.status, count()]).toEqual([201, before + 1]);
    expect((await act(session_id, one, "e2e4", 0)).status).toBe(200);
    const other = { ...request, body: { template: "rps.v1", participants } };
    expectRejection(await host.call("POST", "/sessions", other), 400, "INVALID_REQUEST");
  });
});
