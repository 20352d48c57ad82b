import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { createPeers, type Peers } from "#shared/rpc/peer.ts";
import { openLog } from "#shared/runtime/logger.ts";
import { createDispatcher, type Dispatcher } from "./dispatch.ts";
import type { Match } from "./league.ts";
import type { Agent, AgentRegistry } from "./registry.ts";

/** A referee that takes every match and plays none; it keeps what it was told. */
interface TestReferee {
  readonly agent: Agent;
  readonly orders: StartGame[];
  readonly signatures: string[];
  readonly server: Server;
}

let dispatcher: Dispatcher | undefined;
let peers: Peers | undefined;
const servers: Server[] = [];

afterEach(async () => {
  dispatcher?.stop();
  await peers?.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function referee(
  id: string,
  maxConcurrent: number,
  onOrder: () => void,
  answer: "START_GAME_RESPONSE" | "GAME_ERROR" = "START_GAME_RESPONSE",
): Promise<TestReferee> {
  const orders: StartGame[] = [];
  const signatures: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") return response.end("ok");
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const { id: call, params } = JSON.parse(text);
      orders.push(params.arguments.payload);
      signatures.push(params.arguments.auth_token);
      const reply = newEnvelope(answer, `referee:${id}`, { status: "ACCEPTED", message: "not mine" });
      const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: call, result }), onOrder);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const agent: Agent = {
    id,
    kind: "referee",
    name: id,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tokenHash: sha256Hex(`token of ${id}`),
    gameTypes: ["rps.v1"],
    wantsLegalActions: false,
    wantsRoundResults: false,
    takesBatches: false,
    maxConcurrent,
    dialect: "native",
    state: "ACTIVE",
    fails: 0,
  };
  return { agent, orders, signatures, server };
}

const matches = (count: number): Match[] =>
  Array.from({ length: count }, (_, index) => ({
    leagueId: "rps",
    matchId: `R1M${index + 1}`,
    roundId: 1,
    roles: { player_1: "P01", player_2: "P02" },
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    aborts: 0,
    result: null,
  }));

function dispatcherFor(
  referees: readonly TestReferee[],
  overdue: { readonly matchMs: number; readonly onOverdue: (match: Match) => void } = {
    matchMs: 60_000,
    onOverdue: () => {},
  },
): Dispatcher {
  peers = createPeers();
  const registry = {
    all: () => referees.map(({ agent }) => agent),
    get: (id: string) => referees.find(({ agent }) => agent.id === id)?.agent,
  } as unknown as AgentRegistry;
  return createDispatcher({
    registry,
    peers,
    log: openLog(null, "test"),
    sender: "league_manager:LM01",
    timeoutMs: 1_000,
    ...overdue,
    save: async () => {},
    orderOf: (match) => ({ league_id: match.leagueId, match_id: match.matchId, epoch: match.epoch }) as StartGame,
    gameOf: () => "rps.v1",
    turnOf: (match) => Number(match.matchId.slice(3)) - 1,
    onReferee: () => {},
    onRefusal: (refusing, why) => void refusals.push(`${refusing.id}: ${why}`),
    refusalsMs: 400,
  });
}
/** What was told of referees that take no match. */
const refusals: string[] = [];

/** Resolves when so many orders have come in all. */
function counter(wanted: number): { readonly count: () => void; readonly reached: Promise<void> } {
  const reached = Promise.withResolvers<void>();
  let seen = 0;
  return {
    count: () => {
      if (++seen === wanted) reached.resolve();
    },
    reached: reached.promise,
  };
}

describe("dispatch", () => {
  test("a referee gets no more matches at a time than its max_concurrent_matches", async () => {
    const { count, reached } = counter(3);
    const first = await referee("REF01", 2, count);
    const second = await referee("REF02", 1, count);
    dispatcher = dispatcherFor([first, second]);
    const round = matches(5);
    dispatcher.enqueue(round);
    await reached;
    expect([first, second].map(({ agent }) => dispatcher?.assignedTo(agent.id).length)).toEqual([2, 1]);
    expect(round.filter((match) => match.status === "scheduled")).toHaveLength(2);
  });

  test("a match that is done makes place for the next, until all were played", async () => {
    const only = await referee("REF01", 2, () => {});
    dispatcher = dispatcherFor([only]);
    const round = matches(5);
    dispatcher.enqueue(round);
    let most = 0;
    for (const match of round) {
      most = Math.max(most, dispatcher.assignedTo("REF01").length);
      expect(match.refereeId).toBe("REF01");
      match.status = "completed";
      dispatcher.release(match);
    }
    expect(most).toBe(2);
    expect(dispatcher.assignedTo("REF01")).toEqual([]);
  });

  test("the matches of a round are spread over the referees, alike each time", async () => {
    const { count, reached } = counter(4);
    const referees = [await referee("REF01", 10, count), await referee("REF02", 10, count)];
    dispatcher = dispatcherFor(referees);
    const round = matches(4);
    dispatcher.enqueue(round);
    expect(round.map((match) => match.refereeId)).toEqual(["REF01", "REF02", "REF01", "REF02"]);
    await reached;
    expect(referees.map(({ orders }) => orders.length)).toEqual([2, 2]);
  });

  test("what a referee is told is signed with its own token's hash (PROTOCOL.md, section 3)", async () => {
    const { count, reached } = counter(1);
    const only = await referee("REF01", 1, count);
    dispatcher = dispatcherFor([only]);
    dispatcher.enqueue(matches(1));
    await reached;
    expect(isSignedFor("token of REF01", "rps/R1M1", only.signatures[0] ?? "")).toBe(true);
    expect(isSignedFor("token of REF02", "rps/R1M1", only.signatures[0] ?? "")).toBe(false);
  });

  test("a referee that does not answer three probes loses its matches to another, under a higher epoch", async () => {
    const given = counter(1);
    const givenAgain = counter(1);
    const first = await referee("REF01", 10, given.count);
    const second = await referee("REF02", 10, givenAgain.count);
    dispatcher = dispatcherFor([first, second]);
    const [match] = matches(1);
    dispatcher.enqueue([match as Match]);
    await given.reached;
    first.server.closeAllConnections();
    first.server.close();
    await givenAgain.reached;
    expect(second.orders).toMatchObject([{ match_id: "R1M1", epoch: 2 }]);
    expect(match).toMatchObject({ refereeId: "REF02", epoch: 2, status: "assigned" });
  });

  test("a match that its referee does not end in time is told as overdue, once; one that is done is not", async () => {
    const only = await referee("REF01", 10, () => {});
    const told = Promise.withResolvers<Match>();
    const overdue: Match[] = [];
    const onOverdue = (match: Match): void => {
      overdue.push(match);
      told.resolve(match);
    };
    dispatcher = dispatcherFor([only], { matchMs: 50, onOverdue });
    const [done, late] = matches(2) as [Match, Match];
    dispatcher.enqueue([done, late]);
    done.status = "completed";
    dispatcher.release(done);
    expect(await told.promise).toBe(late);
    expect(overdue).toEqual([late]);
  });
});

describe("a referee that answers its probes and takes no match", () => {
  test("loses its matches to the others, is told so, and gets none while there are others", async () => {
    refusals.length = 0;
    const bad = await referee("REF01", 2, () => {}, "GAME_ERROR");
    const good = await referee("REF02", 2, () => {});
    dispatcher = dispatcherFor([bad, good]);
    const two = matches(2);
    dispatcher.enqueue(two);
    await vi.waitFor(() => expect(two.map(({ refereeId }) => refereeId)).toEqual(["REF02", "REF02"]), 5_000);
    await vi.waitFor(() => expect(good.orders).toHaveLength(2));
    expect(two.map(({ epoch }) => epoch)).toEqual([2, 1]);
    expect(refusals).toEqual(["REF01: not mine"]);
    const asked = bad.orders.length;
    dispatcher.release(two[0] as Match);
    const [next] = matches(1);
    dispatcher.enqueue([next as Match]);
    expect(next?.refereeId).toBe("REF02");
    // The last thing that it hears is that the match is not its own.
    await vi.waitFor(() => expect(bad.orders.at(-1)).toEqual({ league_id: "rps", match_id: "R1M1", epoch: 1 }));
    expect(bad.orders.length).toBeLessThanOrEqual(asked + 1);
  });

  test("keeps, and gets, the matches of a game that nobody else plays", async () => {
    refusals.length = 0;
    const bad = await referee("REF01", 2, () => {}, "GAME_ERROR");
    const other = await referee("REF02", 2, () => {});
    dispatcher = dispatcherFor([bad, { ...other, agent: { ...other.agent, gameTypes: ["chess.v1"] } }]);
    const [first, second] = matches(2) as [Match, Match];
    dispatcher.enqueue([first]);
    await vi.waitFor(() => expect(refusals).toEqual(["REF01: not mine"]), 5_000);
    dispatcher.enqueue([second]);
    expect([first, second].map(({ refereeId, epoch }) => [refereeId, epoch])).toEqual([
      ["REF01", 1],
      ["REF01", 1],
    ]);
    expect(other.orders).toEqual([]);
  });

  test("keeps what it was given where there is no other", async () => {
    refusals.length = 0;
    const bad = await referee("REF01", 2, () => {}, "GAME_ERROR");
    dispatcher = dispatcherFor([bad]);
    const [only] = matches(1);
    dispatcher.enqueue([only as Match]);
    await vi.waitFor(() => expect(refusals).toEqual(["REF01: not mine"]), 5_000);
    expect(only).toMatchObject({ refereeId: "REF01", epoch: 1, status: "assigned" });
  });
});

test("a match that has failed with one referee goes to another, if there is one", async () => {
  const both = [await referee("REF01", 2, () => {}), await referee("REF02", 2, () => {})];
  dispatcher = dispatcherFor(both);
  const [match] = matches(1) as [Match];
  const given: (string | null)[] = [];
  for (let time = 0; time < 3; time++) {
    dispatcher.enqueue([match]);
    given.push(match.refereeId);
    dispatcher.release(match, "failed");
    Object.assign(match, { status: "scheduled", refereeId: null, epoch: match.epoch + 1 });
  }
  expect(given).toEqual(["REF01", "REF02", "REF01"]);
});
