/** Requests at the same moment, and requests whose reply was lost: one of them counts, and with an Idempotency-Key it counts once. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { CreatedSession } from "./documents.ts";
import { startTestHost, type TestAgent, type TestHost } from "./testing/host.ts";
import { type Observer, observe, refused, tableOf } from "./testing/rest.ts";

const REPEATS = 50;

let host: TestHost;
let observer: Observer;
let table: ReturnType<typeof tableOf>;
/** White, and player_1. */
let one: TestAgent;
/** Black, and player_2. */
let two: TestAgent;
let chess: string;

const start = async (kept: { port?: number; dataFolder?: string } = {}): Promise<void> => {
  host = await startTestHost(kept);
  observer = observe(host);
  table = tableOf(host);
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
const act = (...asked: Parameters<typeof table.act>) => table.act(...asked);
const times = <T>(count: number, what: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => what(at));
/** What the log holds of a session, as its roles and actions. */
const entries = (id: string): unknown[] =>
  observer
    .rows("SELECT role, json_extract(action, '$') AS action FROM actions WHERE session_id = ? ORDER BY tick", id)
    .map(({ role, action }) => `${role} ${action}`);

/** Stops the host as it is, and starts it again on the same port and data. */
async function restart(): Promise<void> {
  const { port, dataFolder } = host;
  observer.close();
  await host.stop();
  // It is gone, and with these requests fetch notices that its open connections are too.
  const answers = await Promise.allSettled(times(40, () => fetch(`${host.url}/health`)));
  expect(answers.filter(({ status }) => status === "fulfilled")).toEqual([]);
  await start({ port, dataFolder });
}

describe("two clients at the same moment", () => {
  it("chess: exactly one wins, the other is told CONFLICT", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newChess();
      const moves = ["e2e4", "d2d4"];
      const answers = await Promise.all(moves.map((move) => act(id, one, move, 0)));
      const won = answers.findIndex(({ status }) => status === 200);
      const lost = answers.toSpliced(won, 1);
      expect([won >= 0, lost.length]).toEqual([true, 1]);
      for (const answer of lost) refused(answer, 409, "CONFLICT");
      expect(entries(id)).toEqual([`white ${moves[won]}`]);
    }
  });

  it("chess: both sides at once, and each move in its turn counts", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newChess();
      const [white, black] = await Promise.all([act(id, one, "e2e4", 0), act(id, two, "e7e5", 1)]);
      expect(white.status).toBe(200);
      if (black.status === 200) expect(black.json.tick).toBe(2);
      else refused(black, 409, "CONFLICT");
      expect(entries(id)).toEqual(["white e2e4", "black e7e5"].slice(0, black.status === 200 ? 2 : 1));
    }
  });

  it("rps: both count, and the first is shown nothing of the second", async () => {
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

  it("rps: of two choices of one player one counts", async () => {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const id = await newRps();
      const answers = await Promise.all([act(id, one, "rock"), act(id, one, "paper")]);
      const [taken, late] = answers.toSorted((a, b) => a.status - b.status);
      expect(taken?.status).toBe(200);
      refused(late ?? answers[0], 400, "ALREADY_ACTED");
      expect(entries(id)).toEqual([`player_1 ${taken?.json.state.choices.player_1}`]);
    }
  });
});

describe("a lost reply", () => {
  /** Sends an action and hangs up without reading the reply, as soon as `isTime` says. */
  async function loseReply(id: string, agent: TestAgent, key: string, body: object, isTime: () => Promise<unknown>) {
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
    await isTime();
    socket.destroy();
  }
  const move = { action: "e2e4", expected_tick: 0 };

  it("is given again to the same request, however the game has gone on, also after a restart", async () => {
    const written = () => vi.waitFor(() => expect(entries(chess)).toHaveLength(1), { ...PATIENCE, interval: 1 });
    await loseReply(chess, one, "lost", move, written);
    const again = await act(chess, one, "e2e4", 0, "lost");
    expect([again.status, again.json]).toMatchObject([200, { tick: 1, status: "active", state: { turn: "black" } }]);
    await act(chess, two, "e7e5", 1, "lost"); // another agent's key is another key
    expect((await act(chess, one, "e2e4", 0, "lost")).text).toBe(again.text);
    await restart();
    const later = await act(chess, one, "e2e4", 0, "lost");
    expect([later.status, later.text]).toEqual([200, again.text]);
    expect(entries(chess)).toEqual(["white e2e4", "black e7e5"]);
    expect((await table.state(chess, one)).tick).toBe(2);
  });

  it("whenever the connection broke, the repeated request makes one entry", async () => {
    for (let repeat = 0; repeat < 20; repeat++) {
      const id = await newChess();
      const waits = [async () => {}, () => new Promise(setImmediate), () => new Promise((done) => setTimeout(done, 1))];
      await loseReply(id, one, `broken ${repeat}`, move, waits[repeat % 3] ?? (async () => {}));
      const again = await act(id, one, "e2e4", 0, `broken ${repeat}`);
      expect([again.status, again.json.tick]).toEqual([200, 1]);
      expect(entries(id)).toEqual(["white e2e4"]);
    }
  });

  it("a host that is stopped amid requests has taken each once or not at all", async () => {
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

  it("without the key, CONFLICT and ALREADY_ACTED stand", async () => {
    const rps = await newRps();
    await act(chess, one, "e2e4", 0, "with a key");
    await act(rps, one, "rock", undefined, "with another");
    refused(await act(chess, one, "e2e4", 0), 409, "CONFLICT");
    refused(await act(rps, one, "rock"), 400, "ALREADY_ACTED");
    refused(await act(chess, one, "e2e4", 0, "a new key"), 409, "CONFLICT");
    refused(await act(rps, one, "rock", undefined, "a newer key"), 400, "ALREADY_ACTED");
  });
});

describe("one key", () => {
  it("and another request is INVALID_REQUEST, and changes nothing", async () => {
    const other = await newChess();
    await act(chess, one, "e2e4", 0, "one request");
    const body = (text: string) => ({ token: one.token, headers: { "idempotency-key": "one request" }, body: text });
    const path = `/sessions/${chess}/actions`;
    const bodies = ['{"action":"d2d4","expected_tick":0}', '{"action":"e2e4","expected_tick":1}', "{}", "no JSON"];
    for (const text of bodies) refused(await host.call("POST", path, body(text)), 400, "INVALID_REQUEST");
    refused(await act(other, one, "e2e4", 0, "one request"), 400, "INVALID_REQUEST");
    const created = { template: "chess.v1", participants: { white: one.agent_id, black: two.agent_id } };
    refused(await host.call("POST", "/sessions", body(JSON.stringify(created))), 400, "INVALID_REQUEST");
    expect([entries(chess), entries(other)]).toEqual([["white e2e4"], []]);
  });

  it("20 times at once makes one entry and 20 equal replies", async () => {
    const rps = await newRps();
    const moves = await Promise.all(times(20, () => act(chess, one, "e2e4", 0, "chess at once")));
    const choices = await Promise.all(times(20, () => act(rps, one, "rock", undefined, "rps at once")));
    for (const answers of [moves, choices]) {
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 200, json: { tick: 1 } });
    }
    expect([entries(chess), entries(rps)]).toEqual([["white e2e4"], ["player_1 rock"]]);
  });

  it("20 times at once with two bodies is one request's", async () => {
    const moves = ["e2e4", "d2d4"];
    const answers = await Promise.all(times(20, (at) => act(chess, one, moves[at % 2], 0, "two bodies")));
    const [won = "", ...more] = entries(chess);
    expect(more).toEqual([]);
    for (const [at, answer] of answers.entries()) {
      if (won === `white ${moves[at % 2]}`) expect([answer.status, answer.json.tick]).toEqual([200, 1]);
      else refused(answer, 400, "INVALID_REQUEST");
    }
  });

  it("of two agents is two keys", async () => {
    const rps = await newRps();
    const body = { token: one.token, headers: { "idempotency-key": "shared" }, body: { action: "rock" } };
    const path = `/sessions/${rps}/actions`;
    const first = await host.call("POST", path, body);
    const second = await host.call("POST", path, { ...body, token: two.token });
    expect([first.json.tick, second.json.tick]).toEqual([1, 2]);
    // Nobody gets another's reply by its key.
    expect([first.text, second.text]).toEqual([
      (await host.call("POST", path, body)).text,
      (await host.call("POST", path, { ...body, token: two.token })).text,
    ]);
  });

  it("of a refused action is free: it is worked out anew", async () => {
    refused(await act(chess, two, "e7e5", 1, "early"), 409, "CONFLICT");
    refused(await act(chess, one, "e2e5", 0, "illegal"), 400, "INVALID_ACTION");
    expect((await act(chess, one, "e2e4", 0, "illegal")).json).toMatchObject({ tick: 1 });
    const late = await act(chess, two, "e7e5", 1, "early");
    expect([late.status, late.json.tick]).toEqual([200, 2]);
    expect((await act(chess, two, "e7e5", 1, "early")).text).toBe(late.text);
    expect(entries(chess)).toEqual(["white e2e4", "black e7e5"]);
  });

  it("creates one session, however often it is said, also after a restart", async () => {
    const participants = { white: one.agent_id, black: two.agent_id };
    const asked = {
      token: one.token,
      headers: { "idempotency-key": "new" },
      body: { template: "chess.v1", participants },
    };
    const count = () => observer.rows("SELECT count(*) AS n FROM sessions")[0].n;
    const before = count();
    const answers = await Promise.all(times(20, () => host.call("POST", "/sessions", asked)));
    await restart();
    answers.push(await host.call("POST", "/sessions", asked));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const { session_id } = CreatedSession.parse(answers[0]?.json);
    expect([answers[0]?.status, count()]).toEqual([201, before + 1]);
    expect((await act(session_id, one, "e2e4", 0)).status).toBe(200);
    const other = { ...asked, body: { template: "rps.v1", participants } };
    refused(await host.call("POST", "/sessions", other), 400, "INVALID_REQUEST");
  });
});
