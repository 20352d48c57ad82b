import { once } from "node:events";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { ActionTaken, ErrorBody, SessionState } from "./openapi.ts";
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

const newGame = () => host.session("rps.v1", { player_1: one, player_2: two }, { spectators: "public" });

type Frame = ReturnType<typeof JSON.parse>;

interface Access {
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const bearer = ({ token }: TestAgent): Access => ({ headers: { authorization: `Bearer ${token}` } });
const subprotocols = ({ token }: TestAgent): Access => ({ protocols: [`bearer.${token}`, "league.v2"] });

/** Opens the WebSocket of a session. Rejects with the HTTP status if it is refused. */
async function connect(id: string, { protocols = [], headers = {} }: Access, query = "", at = host.url) {
  const url = `${at.replace("http:", "ws:")}/sessions/${id}/socket${query}`;
  const socket = new WebSocket(url, protocols, { perMessageDeflate: false, maxPayload: 1_000_000, headers });
  const received: string[] = [];
  const events: Frame[] = [];
  const replies: Frame[] = [];
  socket.on("message", (data: Buffer) => {
    received.push(data.toString("utf8"));
    const frame = JSON.parse(data.toString("utf8"));
    if ("event" in frame) events.push({ ...frame, data: SessionState.parse(frame.data) });
    else replies.push(frame);
  });
  onTestFinished(() => socket.terminate());
  const closed = once(socket, "close") as Promise<[number, Buffer]>;
  closed.catch(() => {}); // a refused WebSocket
  await once(socket, "open");
  const nextOf = (frames: Frame[]) =>
    vi.waitFor(() => frames.shift() ?? Promise.reject(new Error("no frame has arrived")), WAIT_OPTIONS);
  return {
    socket,
    received,
    events,
    closed,
    nextEvent: () => nextOf(events),
    /** Sends a frame and resolves with its reply. */
    async send(frame: unknown) {
      socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
      return await nextOf(replies);
    },
  };
}

const OVER = [1000, Buffer.from("the session is over")];

it("two agents play a game by their WebSockets, which send each change and end with the session", async () => {
  const id = await newGame();
  const [first, second] = [await connect(id, bearer(one)), await connect(id, subprotocols(two))];
  expect(await first.nextEvent()).toMatchObject({ event: "state", event_id: 0, data: { your_role: "player_1" } });
  expect((await second.nextEvent()).data).toMatchObject({
    your_role: "player_2",
    tick: 0,
    legal_actions: ["rock", "paper", "scissors"],
  });
  const reply = await first.send({ id: 7, action: "rock" });
  expect([reply.id, reply.status, ActionTaken.parse(reply.body).tick]).toEqual([7, 200, 1]);
  expect([(await first.nextEvent()).event_id, (await second.nextEvent()).event_id]).toEqual([1, 1]);
  // The reply to the last action arrives although the session is over.
  expect(await second.send({ id: "last", action: "paper", expected_tick: 0 })).toMatchObject({
    id: "last",
    status: 200,
    body: { status: "completed" },
  });
  for (const player of [first, second]) {
    expect(await player.nextEvent()).toMatchObject({ event_id: 2, data: { status: "completed" } });
    expect(await player.closed).toEqual(OVER);
  }
});

it("the choice of an open turn is not sent to the opponent or a spectator", async () => {
  const id = await newGame();
  const sockets = await Promise.all([two, watcher].map((agent) => connect(id, bearer(agent))));
  const chooser = await connect(id, bearer(one));
  expect((await chooser.send({ id: 1, action: "scissors" })).body.state.choices.player_1).toBe("scissors");
  sockets.push(await connect(id, bearer(two)), await connect(id, bearer(watcher), "?last_event_id=0"));
  // The reply to a rejected action arrives after all events that were sent before.
  for (const { send } of sockets) expect((await send({ id: 2, action: "well" })).status).toBeGreaterThanOrEqual(400);
  for (const { events } of sockets) {
    for (const { data } of events) expect(data.state).toMatchObject({ choices: { player_1: null, player_2: null } });
  }
  expect(sockets.map(({ events }) => events.map(({ event_id }) => event_id))).toEqual([[0, 1], [0], [1], []]);
});

it("an action is rejected as over REST, and the WebSocket stays open", async () => {
  const id = await newGame();
  const [player, spectator] = [await connect(id, bearer(one)), await connect(id, bearer(watcher))];
  const rest = async (agent: TestAgent, body: unknown) => {
    const { status, json } = await host.call("POST", `/sessions/${id}/actions`, { token: agent.token, body });
    return { id: 1, status, body: ErrorBody.parse(json) };
  };
  for (const body of [{ action: "well" }, {}, { action: "rock", more: 1 }, { action: "rock", expected_tick: -1 }]) {
    expect(await player.send({ id: 1, ...body })).toEqual(await rest(one, body));
  }
  expect(await spectator.send({ id: 1, action: "rock" })).toEqual(await rest(watcher, { action: "rock" }));
  expect(await player.send({ id: 2, action: "rock" })).toMatchObject({ id: 2, status: 200 });
  expect(await player.send({ id: 3, action: "rock" })).toMatchObject({ id: 3, status: 400 });
});

it.each([
  ["is not JSON", "{", 400],
  ["is not an object", "[1]", 400],
  ["has no id", '{"action":"rock"}', 400],
  ["has the key __proto__", '{"id":[],"__proto__":1,"action":"rock"}', 400],
  ["is too large", `{"id":[],"action":"${"x".repeat(65_536)}"}`, 413],
])("a frame that %s is answered with an error, and the WebSocket stays open", async (_, frame, status) => {
  const player = await connect(await newGame(), bearer(one));
  const reply = await player.send(frame);
  expect([reply.id, reply.status, ErrorBody.parse(reply.body).error.code]).toEqual([null, status, "INVALID_REQUEST"]);
  expect(await player.send({ id: 1, action: "rock" })).toMatchObject({ id: 1, status: 200 });
});

it("an action that is repeated with its key gets its first reply, also over REST", async () => {
  const id = await newGame();
  const action = { action: "rock", expected_tick: 0 };
  const keyed = { idempotency_key: "first", ...action };
  const player = await connect(id, bearer(one));
  const { body } = await player.send({ id: 1, ...keyed });
  player.socket.terminate();
  const again = await connect(id, bearer(one));
  expect(await again.send({ id: 2, ...keyed })).toEqual({ id: 2, status: 200, body });
  const headers = { "idempotency-key": "first" };
  const repeated = await host.call("POST", `/sessions/${id}/actions`, { token: one.token, headers, body: action });
  expect([repeated.status, repeated.json]).toEqual([200, body]);
  expect((await again.send({ id: 3, ...keyed, action: "paper" })).body.error.message).toContain("idempotency_key");
  expect(await again.send({ id: 4, ...action, idempotency_key: "" })).toMatchObject({ id: 4, status: 400 });
});

it("a caller without permission is refused before the WebSocket opens", async () => {
  const closed = await host.session("rps.v1", { player_1: one, player_2: two });
  await expect(connect(closed, {})).rejects.toThrow("401");
  await expect(connect(closed, { protocols: ["league.v2", "bearer.wrong"] })).rejects.toThrow("401");
  await expect(connect(closed, bearer(watcher))).rejects.toThrow("403");
  await expect(connect("unknown", bearer(one))).rejects.toThrow("404");
  await expect(connect(closed, bearer(one), "?last_event_id=x")).rejects.toThrow("400");
  expect((await host.call("GET", `/sessions/${closed}/socket`, { token: one.token })).status).toBe(426);
});

it("the server selects league.v2, so that it does not repeat the token", async () => {
  const { socket } = await connect(await newGame(), subprotocols(one));
  expect((socket as unknown as { protocol: string }).protocol).toBe("league.v2");
});

it("the WebSocket of a completed session sends its end and closes", async () => {
  const id = await newGame();
  for (const agent of [one, two]) {
    await host.call("POST", `/sessions/${id}/actions`, { token: agent.token, body: { action: "rock" } });
  }
  const late = await connect(id, bearer(watcher));
  expect(await late.closed).toEqual(OVER);
  expect(late.events).toMatchObject([{ event_id: 2, data: { status: "completed" } }]);
  const informed = await connect(id, bearer(watcher), "?last_event_id=2");
  expect([await informed.closed, informed.received]).toEqual([OVER, []]);
});

it("a server that stops closes its WebSockets", async () => {
  const other = await startTestHost();
  const [white, black] = [await other.agent(), await other.agent()];
  const id = await other.session("chess.v1", { white, black });
  const { closed } = await connect(id, bearer(white), "", other.url);
  await other.remove();
  expect((await closed)[0]).toBe(1012);
});
