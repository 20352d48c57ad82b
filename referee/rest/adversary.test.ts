/**
 * Four agents send random requests to a running host. Each answer, including the answers to concurrent requests, must be one that the model
 * of the API allows (testing/model.ts), and no answer may reveal hidden information.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GameId, gameIds, games } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import { startTestHost, type TestHost } from "./testing/host.ts";
import { type Observer, observe } from "./testing/observer.ts";
import { audit, exchange, expectCompleteStreams, expectNoLeaks, type Run, sizes } from "./testing/rest.ts";
import type { ApiRequest, World } from "./testing/world.ts";

/** The kinds of requests with their weights. */
const OPERATIONS = {
  act: 20,
  stale: 3,
  again: 4,
  meddle: 4,
  junk: 3,
  malformed: 2,
  repeat: 5,
  state: 2,
  poll: 1,
  log: 2,
  list: 1,
  watch: 2,
  open: 1,
  create: 1,
  forge: 2,
  foreign: 1,
  method: 1,
};
type OperationKind = keyof typeof OPERATIONS;

interface Operation {
  readonly kind: OperationKind;
  readonly who: number;
  readonly where: number;
  /** Chooses among the alternatives of the request. */
  readonly n: number;
  readonly key: string | null;
}

/** Idempotency keys. The first two are invalid. */
const KEYS = ["", "k".repeat(201), "a", "b", "c", "d", "e", "f", "g", "h"];

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.oneof(
    ...Object.entries(OPERATIONS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as OperationKind) })),
  ),
  who: fc.nat(3),
  where: fc.nat(11),
  n: fc.nat(9_999),
  key: fc.option(fc.constantFrom(...KEYS), { freq: 2, nil: null }),
});
const several = fc.array(operation, { minLength: 2, maxLength: 5 });
/** The requests that are sent concurrently: one, several, or several to one session. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(operation) },
  { weight: 1, arbitrary: several },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(11), several)
      .map(([where, operations]) => operations.map((operation) => ({ ...operation, where }))),
  },
);

const JUNK = [
  null,
  true,
  -1,
  0,
  2.5,
  6,
  "",
  "e2e4 ",
  "e7e5",
  "lizard",
  "ROCK",
  "a4",
  [],
  {},
  ["rock"],
  { number: 9 },
  // The legal clues of Codenames cannot be listed. Some of these clues are not legal.
  ...["ocean", "TWO WORDS", "s"].map((word) => ({ type: "clue", word, number: 2 })),
  { type: "guess", word: "kraken" },
  { type: "pass" },
];
const MALFORMED = [
  "",
  "e2e4",
  "[]",
  "null",
  '{"action":',
  '{"expected_tick":0}',
  '{"action":"rock","expected_tick":-1}',
  '{"action":"rock","expected_tick":"0"}',
  '{"action":"rock","expected_tick":null}',
  '{"action":"rock","expected_tick":0.5}',
  '{"action":"rock","expected_tick":0,"role":"player_2"}',
  '{"action":"rock","expected_tick":0,"agent_id":"x"}',
];

const pick = <T>(items: readonly T[], n: number): T => items[n % items.length] as T;
/** The number of answers by status and code, over all runs. */
const answerCounts = new Map<string, number>();

/** Assigns an agent to each role of a game: agent `who` to the first role, the agent at distance `gap` to the next, and so on. */
function participantsOf(agents: Run["agents"], template: GameId, who: number, gap: number): Record<string, string> {
  const { roles } = games[template];
  const others = agents
    .map((_, index) => pick(agents, who + gap + index))
    .filter((agent) => agent !== pick(agents, who));
  const order = [pick(agents, who), ...others];
  return Object.fromEntries(roles.map((role, index) => [role, pick(order, index).agent_id]));
}

/** The body of a request that creates a session, valid or invalid. */
function createBody({ agents }: Run, { who, where, n }: Operation): object {
  const template = pick(gameIds, where);
  const [first = "", second = ""] = games[template].roles;
  const good = { template, participants: participantsOf(agents, template, who, 1 + (n % 3)) };
  const { [first]: one = "", [second]: _, ...others } = good.participants;
  const bad: readonly object[] = [
    { ...good, participants: { ...others, [first]: one, [second]: "unknown" } },
    { ...good, participants: { ...others, [first]: one, [second]: one } },
    { ...good, participants: { ...others, [first]: one } },
    { ...good, participants: { [first]: pick(agents, who + 1).agent_id, [second]: pick(agents, who + 2).agent_id } },
    { ...good, template: "go.v1" },
    { ...good, options: { seed: "mine" } },
    { ...good, seed: "mine" },
  ];
  return n % 2 ? pick(bad, n >> 1) : { ...good, spectators: n % 4 ? "none" : "public" };
}

/** Returns the request of an operation in the current world. */
function requestOf(run: Run, operation: Operation): ApiRequest {
  const { agents, world } = run;
  const { kind, who, n } = operation;
  const sessions = [...world.sessions.values()];
  const open = kind === "again" ? sessions.filter(({ tick, turnTick }) => tick > turnTick) : [];
  const session = pick(open.length > 0 ? open : sessions, operation.where);
  const { game, id, participants } = session;
  const next = pick(game.toAct(session.state).length > 0 ? game.toAct(session.state) : game.roles, n);
  const token = agents[who]?.token ?? "";
  const actor = agents.find(({ agent_id }) => agent_id === participants[next])?.token ?? "";
  const key = operation.key === null ? {} : { key: operation.key };
  const read = (path: string): ApiRequest => ({ method: "GET", path, token });
  const post = (sender: string, body: unknown, path = `/sessions/${id}/actions`): ApiRequest => {
    return { method: "POST", path, token: sender, body: JSON.stringify(body), ...key };
  };
  const legal = game.legalActions(session.state, next);
  const action = legal.length > 0 ? pick(legal, n >> 2) : pick(JUNK, n);
  const expected_tick = game.info.simultaneous && n % 3 === 0 ? undefined : session.tick;
  switch (kind) {
    case "act":
      return post(actor, { action, expected_tick });
    case "stale":
      return post(actor, { action, expected_tick: Math.max(0, session.tick + pick([-1, -2, 1, 7], n)) });
    case "again": {
      const last = participants[session.log.at(-1)?.role ?? next];
      const sender = agents.find(({ agent_id }) => agent_id === last)?.token ?? "";
      return post(sender, { action, expected_tick: pick([expected_tick, session.tick + 1, session.tick - 1], n) });
    }
    case "meddle":
      return post(token, { action, expected_tick: pick([expected_tick, expected_tick, undefined], n >> 4) });
    case "junk":
      return post(actor, { action: pick(JUNK, n), expected_tick });
    case "malformed":
      return { ...post(actor, {}, n % 4 ? undefined : "/sessions"), body: pick(MALFORMED, n) };
    case "repeat":
      return pick(run.requests, n);
    case "create":
      return post(token, createBody(run, operation), "/sessions");
    case "forge": {
      const token = pick(["", "forged", agents[who]?.agent_id ?? "", sha256Hex(actor), `${actor}x`, actor.slice(1)], n);
      return pick([{ ...read(`/sessions/${id}/state`), token }, post(token, { action, expected_tick })], n >> 3);
    }
    case "foreign": {
      const path = `/sessions/${pick([agents[who]?.agent_id, "unknown", id.toUpperCase(), `${id}%00`], n)}`;
      return pick([read(`${path}/state`), read(`${path}/log`), post(token, { action }, `${path}/actions`)], n >> 2);
    }
    case "method": {
      const path = pick(
        [`/sessions/${id}/log`, `/sessions/${id}`, `/sessions/${id}/actions`, "/sessions", "/agents"],
        n,
      );
      return { method: pick(["PUT", "PATCH", "DELETE"], n >> 3), path, token, body: "{}" };
    }
    case "poll":
      return read(`/sessions/${id}/state?wait_after_tick=${pick([-1, session.tick - 1, session.tick], n)}&timeout_s=0`);
    case "watch":
      return read(`/sessions/${id}/events${n % 3 ? "" : "?last_event_id=0"}`);
    case "list":
      return read(n % 3 ? "/sessions" : `/sessions?agent_id=${pick(agents, n).agent_id}`);
    case "open":
      return read(pick(["/health", "/ready", "/metrics", "/openapi.json"], n));
    default:
      return read(`/sessions/${id}/${kind}`);
  }
}

/** The first sessions of a run: one of each game, and some variants. */
const FIRST_SESSIONS: readonly object[] = [
  ...gameIds.map((template) => ({ template })),
  { template: "rps.v1", options: { best_of: 3 } },
  { template: "rps.v1", options: { best_of: 9 }, spectators: "public" },
  { template: "even_odd.v1", options: { variant: "draw", max_rounds: 9, rounds_to_win: 5 }, spectators: "public" },
  { template: "chess.v1", options: { fen: "7k/8/6K1/8/8/8/8/1Q6 w - - 0 1" }, spectators: "public" },
];

let host: TestHost;
let observer: Observer;
beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});

/** Starts a run with four new agents and their first sessions. */
async function startRun(): Promise<Run> {
  const agents = await Promise.all([0, 1, 2, 3].map(() => host.agent()));
  const seedOf = (id: string): string => String(observer.value("SELECT seed FROM sessions WHERE session_id = ?", id));
  const tokens = new Map(agents.map(({ token, agent_id }) => [token, agent_id]));
  const world: World = { agents: tokens, sessions: new Map(), replies: new Map(), seedOf };
  const before = sizes(observer);
  const run: Run = {
    host,
    observer,
    agents,
    world,
    before,
    answerCounts,
    requests: [],
    exchanges: [],
    end: new AbortController(),
  };
  for (const [index, body] of FIRST_SESSIONS.entries()) {
    const participants = participantsOf(agents, (body as { template: GameId }).template, index, 1 + (index % 3));
    const text = JSON.stringify({ ...body, participants });
    const request = { method: "POST", path: "/sessions", token: pick(agents, index).token, body: text };
    run.requests.push(request);
    await exchange(run, [request]);
  }
  expect(run.world.sessions.size).toBe(FIRST_SESSIONS.length);
  return run;
}

it("random requests of four agents are answered as the model predicts, and reveal no hidden information", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 45, maxLength: 80, size: "max" }), async (steps) => {
      const run = await startRun();
      try {
        for (const operations of steps) {
          const requests = operations.map((operation) => {
            const request = requestOf(run, operation);
            run.requests.push(request);
            return request;
          });
          await exchange(run, requests);
        }
        await audit(run);
        await expectCompleteStreams(run);
        expectNoLeaks(run);
      } finally {
        run.end.abort();
      }
    }),
    { numRuns: isLongRun ? 100 : 10 },
  );
  // The runs must contain each of these answers.
  for (const answer of ["200", "201", "401 UNAUTHORIZED", "403 FORBIDDEN", "404 NOT_FOUND", "409 CONFLICT"]) {
    expect(answerCounts.get(answer), answer).toBeGreaterThan(0);
  }
  for (const code of ["INVALID_REQUEST", "INVALID_ACTION", "ALREADY_ACTED"]) {
    expect(answerCounts.get(`400 ${code}`), code).toBeGreaterThan(0);
  }
});
