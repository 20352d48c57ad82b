import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { errorNames } from "#shared/protocol/errors.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { people, round, USERS } from "../codenames/testing/answers.ts";
import { connectHost } from "../codenames/testing/host.ts";
import { createGame, joinGame, type TestSeat, tool, twoSeats, type Wire } from "../play/testing/play.ts";
import { type Answer, startTestHost, type TestAgent, type TestHost } from "../rest/testing/host.ts";
import { signed, startTestReferee, type TestReferee, tokenOf } from "../testing/match.ts";
import {
  protocolErrorOf,
  type RejectionCode,
  rejection,
  rejectionCodes,
  rejectionTable,
  restStatus,
} from "./rejections.ts";
import { hostOfRemovedGame } from "./testing/removed-game.ts";

let host: TestHost;
let codenames: TestHost;
/** The referees that tests have started. */
const referees: TestReferee[] = [];
/** The rejected requests in the log of the Codenames host. */
const logged: Wire[] = [];
const rejections = {
  write: (line: string): void => void (line.includes('"rejected"') && logged.push(JSON.parse(line))),
};
beforeAll(async () => {
  host = await startTestHost();
  codenames = await startTestHost({ log: pino({}, rejections) });
});
afterAll(async () => {
  await Promise.all([host.remove(), codenames.remove(), ...referees.map((referee) => referee.stop())]);
});

/** Starts a referee whose player P01 never answers MOVE_REQUEST, so that its matches stay open. */
async function startReferee(): Promise<TestReferee> {
  const noAnswer = Promise.withResolvers<never>().promise;
  const referee = await startTestReferee({
    player: ({ type, to }) => (type === "MOVE_REQUEST" && to === "P01" ? noAnswer : null),
  });
  referees.push(referee);
  return referee;
}

/** Sends a message. Resolves with the payload of the answer. */
const send = async (type: MessageType, payload: object, authToken?: string, url = host.url): Promise<Wire> => {
  const envelope = newEnvelope(type, "player:x", payload, { authToken });
  return JSON.parse((await tool({ url }, "league_message", envelope)).text).payload;
};
/** The error that the Codenames host logs for one call of a tool. */
const loggedError = async (call: Promise<unknown>): Promise<Wire> => {
  logged.length = 0;
  await call;
  const { code, reason } = logged[0];
  return { error_code: code, message: reason };
};

const twoAgents = async (): Promise<[TestAgent, TestAgent]> => [await host.agent(), await host.agent()];
const chess = (): Promise<[TestSeat, TestSeat]> => twoSeats(host, "chess");

const act = ({ gameId, token }: TestSeat, action: unknown, expected_tick: number | null = 0, headers = {}) =>
  host.call("POST", `/sessions/${gameId}/actions`, { token, body: { action, expected_tick }, headers });
const moveOnPage = ({ gameId, token }: TestSeat, move: unknown, more = {}) =>
  host.call("POST", `/api/games/${gameId}/moves`, { token, body: { move, ...more } });
const finish = ({ gameId, token }: TestSeat, move: unknown, more = {}) =>
  send("FINISH_TURN", { game_id: gameId, seat_token: token, move, ...more });
const onAllInterfaces = (seat: TestSeat, move: unknown): RejectedRequests => ({
  rest: () => act(seat, move),
  pages: () => moveOnPage(seat, move),
  protocol: () => finish(seat, move),
});
const newSession = async (more: object): Promise<Answer> => {
  const [white, black] = await twoAgents();
  const participants = { white: white.agent_id, black: black.agent_id };
  return host.call("POST", "/sessions", { token: white.token, body: { template: "chess.v1", participants, ...more } });
};
const newPageGame = (more: object) => host.call("POST", "/api/games", { body: { template: "rps", ...more } });
const newGame = (more: object) => send("CREATE_GAME", { template: "rps", ...more });

/** Requests that cause one rejection, for each interface where it can occur. */
interface RejectedRequests {
  readonly rest?: () => Promise<Answer>;
  readonly pages?: () => Promise<Answer>;
  /** Resolves with the protocol error. */
  readonly protocol?: () => Promise<Wire>;
}

const requestsFor: Readonly<Record<RejectionCode, () => Promise<RejectedRequests>>> = {
  async SESSION_OVER() {
    const [white] = await chess();
    await white.move(undefined, { resign: true });
    return onAllInterfaces(white, "e2e4");
  },
  async ALREADY_ACTED() {
    const [one] = await twoSeats(host, "rps");
    await one.move("rock");
    return onAllInterfaces(one, "rock");
  },
  async CONFLICT() {
    const [white] = await chess();
    return {
      rest: () => act(white, "e2e4", 5),
      pages: () => moveOnPage(white, "e2e4", { expected_tick: 5 }),
      protocol: () => finish(white, "e2e4", { expected_tick: 5 }),
    };
  },
  NOT_YOUR_TURN: async () => onAllInterfaces((await chess())[1], "e7e5"),
  ILLEGAL_ACTION: async () => onAllInterfaces((await chess())[0], "e2e5"),
  WAITING_FOR_PLAYERS: async () =>
    onAllInterfaces(await createGame(host, { template: "chess", opponent: "agent" }), "e2e4"),
  async ACTED_BY_DRIVER() {
    const referee = await startReferee();
    const { session_id } = (await referee.begin()).payload;
    const url = referee.url.replace(/\/mcp$/, "");
    const token = tokenOf("P02", "R1M1");
    const post = async (path: string, body: object): Promise<Answer> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await response.text();
      return { status: response.status, text, json: JSON.parse(text), headers: response.headers };
    };
    return {
      rest: () => post(`/sessions/${session_id}/actions`, { action: "rock" }),
      pages: () => post(`/api/games/${session_id}/moves`, { move: "rock" }),
      protocol: () => send("FINISH_TURN", { game_id: session_id, move: "rock" }, token, url),
    };
  },
  async FALSE_CLAIM() {
    const [white] = await chess();
    const claim = "checkmate";
    return { pages: () => moveOnPage(white, "e4", { claim }), protocol: () => finish(white, "e4", { claim }) };
  },
  async KEY_REUSED() {
    const [white, black] = await chess();
    await act(white, "e2e4", 0, { "idempotency-key": "one" });
    await black.move("e5", { idempotency_key: "two" });
    return {
      rest: () => act(white, "d2d4", 0, { "idempotency-key": "one" }),
      protocol: () => finish(black, "d5", { idempotency_key: "two" }),
    };
  },
  INVALID_TOKEN: async () => ({ rest: () => host.call("GET", "/sessions", { token: "of no agent" }) }),
  async NO_SEAT() {
    const [white] = await chess();
    const { token } = await host.agent();
    return onAllInterfaces({ ...white, token }, "e2e4");
  },
  async AMBIGUOUS_SEAT() {
    const shared = { bearer: "the token of two agents" };
    const { gameId } = await createGame(host, { template: "chess", opponent: "agent" }, shared);
    await joinGame(host, gameId, {}, shared);
    return {
      pages: () => host.call("POST", `/api/games/${gameId}/moves`, { token: shared.bearer, body: { move: "e4" } }),
      protocol: () => send("FINISH_TURN", { game_id: gameId, move: "e4" }, shared.bearer),
    };
  },
  async NOT_PERMITTED() {
    const [one, other] = await twoAgents();
    const referee = await startReferee();
    return {
      rest: () => host.call("GET", `/sessions?agent_id=${other.agent_id}`, { token: one.token }),
      protocol: async () => (await referee.send("START_GAME", referee.order(), "not the manager's signature")).payload,
    };
  },
  async UNKNOWN_SESSION() {
    const { token } = await host.agent();
    return {
      rest: () => host.call("GET", "/sessions/none/state", { token }),
      pages: () => host.call("GET", "/api/games/none"),
      protocol: () => send("JOIN_GAME", { game_id: "none" }),
    };
  },
  async GAME_NOT_LOADED() {
    const [{ call, url, agent }, { gameId, token }] = await hostOfRemovedGame();
    const reader = await agent();
    return {
      rest: () => call("GET", `/sessions/${gameId}/state`, { token: reader.token }),
      pages: () => call("POST", `/api/games/${gameId}/moves`, { token, body: { move: "rock" } }),
      protocol: () => send("FINISH_TURN", { game_id: gameId, seat_token: token, move: "rock" }, undefined, url),
    };
  },
  UNKNOWN_AGENT: async () => ({ rest: () => newSession({ participants: { white: "none", black: "none" } }) }),
  async UNKNOWN_PLAYER() {
    const [{ gameId }] = await chess();
    return { protocol: () => send("VALIDATE_MOVE", { match_id: gameId, player_id: "green", move: "e4" }) };
  },
  UNKNOWN_GAME: async () => ({
    rest: () => newSession({ template: "go.v1" }),
    pages: () => newPageGame({ template: "go" }),
    protocol: () => newGame({ template: "go" }),
  }),
  UNKNOWN_GAME_TOKEN: async () => ({ protocol: () => send("CONTINUE_GAME", { game_token: "none" }) }),
  UNKNOWN_BOT: async () => ({
    pages: () => newPageGame({ opponent: "unknown" }),
    protocol: () => newGame({ opponent: "unknown" }),
  }),
  UNKNOWN_ROLE: async () => ({
    pages: () => newPageGame({ play_as: "green" }),
    protocol: () => newGame({ play_as: "green" }),
  }),
  INVALID_OPTIONS: async () => ({
    rest: () => newSession({ options: { fen: "no position" } }),
    pages: () => newPageGame({ template: "chess", options: { fen: "no position" } }),
    protocol: () => newGame({ template: "chess", options: { fen: "no position" } }),
  }),
  async INVALID_PARTICIPANTS() {
    const { agent_id, token } = await host.agent();
    const body = { template: "chess.v1", participants: { white: agent_id } };
    return { rest: () => host.call("POST", "/sessions", { token, body }) };
  },
  async NO_OPEN_SEAT() {
    const [{ gameId }] = await chess();
    return { protocol: () => send("JOIN_GAME", { game_id: gameId }) };
  },
  async AMBIGUOUS_MATCH() {
    const referee = await startReferee();
    await referee.begin();
    const { roles } = referee.order({ match_id: "R1M2" });
    await referee.send("START_GAME", referee.order({ league_id: "other", roles }), signed("other/R1M1"));
    return { protocol: async () => (await referee.send("GET_GAME_STATE", { match_id: "R1M1" })).payload };
  },
  async INVALID_ORDER() {
    const referee = await startReferee();
    return { protocol: async () => (await referee.begin({ options: { rounds: "many" } })).payload };
  },
  async MATCH_SUPERSEDED() {
    const referee = await startReferee();
    await referee.begin({ epoch: 2 });
    return { protocol: async () => (await referee.begin({ epoch: 1 })).payload };
  },
  async TOO_MANY_MATCHES() {
    const referee = await startReferee();
    for (const match_id of ["M1", "M2", "M3", "M4"]) await referee.begin({ match_id });
    return { protocol: async () => (await referee.begin({ match_id: "M5" })).payload };
  },
  async GAME_ALREADY_OPEN() {
    const begin = () => round(codenames.url, "create_new_game", USERS, { bearer: "mine" });
    const { result } = await begin();
    const inputResponses = { answer: { action: "accept", content: { source: "built-in" } } };
    const { requestState } = result;
    await round(codenames.url, "create_new_game", USERS, { bearer: "mine", inputResponses, requestState });
    return { protocol: () => loggedError(begin()) };
  },
  async NO_BOARD() {
    const decline = people(({ stage }) => (stage === "source" ? { action: "decline" } : undefined));
    const client = await connectHost(`${codenames.url}/mcp`, "stateless", decline, { bearer: "another" });
    const call = (): Promise<unknown> => client.call("create_new_game", USERS).finally(() => client.close());
    return { protocol: () => loggedError(call()) };
  },
  CANNOT_ASK: async () => ({ protocol: () => send("CREATE_NEW_GAME", USERS) }),
};

describe("the table of rejections", () => {
  it("has each code once, with errors for REST, pages, tools and messages and with a text", () => {
    expect(new Set(rejectionCodes).size).toBe(rejectionCodes.length);
    expect(Object.keys(rejectionTable).sort()).toEqual([...rejectionCodes].sort());
    for (const code of rejectionCodes) {
      const { rest, pages, protocol, isRetryable, text } = rejectionTable[code];
      expect([restStatus[rest], restStatus[pages]], code).toEqual([expect.any(Number), expect.any(Number)]);
      expect(protocolErrorOf(rejection(code)), code).toEqual({
        error_code: protocol,
        error_name: errorNames[protocol],
        retryable: isRetryable,
        message: text,
        context: {},
      });
      expect(text, code).toMatch(/^[A-Z].*[^.]$/);
    }
  });

  it.each(rejectionCodes)("is the answer of a running host to %s", async (code) => {
    const { rest, pages, protocol } = await requestsFor[code]();
    const expected = rejectionTable[code];
    expect([rest, pages, protocol].filter(Boolean)).not.toEqual([]);
    for (const [request, restCode] of [[rest, expected.rest] as const, [pages, expected.pages] as const]) {
      const answer = await request?.();
      if (!answer) continue;
      const error = { code: restCode, message: expect.any(String) };
      expect([answer.status, answer.json]).toEqual([restStatus[restCode], { error }]);
    }
    const error = await protocol?.();
    if (!error) return;
    expect(error).toMatchObject({ error_code: expected.protocol, message: expect.any(String) });
    if ("retryable" in error) expect(error.retryable).toBe(expected.isRetryable);
  });
});
