/**
 * Four agents that do whatever they like to a real host: every answer, also those of requests sent at once, must be one that the
 * documents allow (testing/model.ts), and nothing that anybody ever received may tell what is hidden.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GameId, gameIds, games } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { startTestHost, type TestHost } from "./testing/host.ts";
import {
  audit,
  exchange,
  nothingLeaked,
  type Observer,
  observe,
  type Run,
  sizes,
  streamsAreWhole,
} from "./testing/rest.ts";
import type { Asked, World } from "./testing/world.ts";

/** Weights of what an agent may do. */
const DEEDS = {
  ...{ act: 20, stale: 3, again: 4, meddle: 4, junk: 3, malformed: 2, repeat: 5 },
  ...{ state: 2, poll: 1, log: 2, list: 1, watch: 2, open: 1 },
  ...{ create: 1, forge: 2, foreign: 1, method: 1 },
};
type Deed = keyof typeof DEEDS;

interface Op {
  readonly deed: Deed;
  readonly who: number;
  readonly where: number;
  /** Chooses among whatever there is to choose. */
  readonly n: number;
  readonly key: string | null;
}

/** The first two are refused. */
const KEYS = ["", "k".repeat(201), "a", "b", "c", "d", "e", "f", "g", "h"];

const op: fc.Arbitrary<Op> = fc.record({
  deed: fc.oneof(...Object.entries(DEEDS).map(([deed, weight]) => ({ weight, arbitrary: fc.constant(deed as Deed) }))),
  who: fc.nat(3),
  where: fc.nat(11),
  n: fc.nat(9_999),
  key: fc.option(fc.constantFrom(...KEYS), { freq: 2, nil: null }),
});
const several = fc.array(op, { minLength: 2, maxLength: 5 });
/** What is sent at once: one request, several, or several to one session. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(op) },
  { weight: 1, arbitrary: several },
  { weight: 2, arbitrary: fc.tuple(fc.nat(11), several).map(([where, ops]) => ops.map((one) => ({ ...one, where }))) },
);

const JUNK = [
  ...[null, true, -1, 0, 2.5, 6, "", "e2e4 ", "e7e5", "lizard", "ROCK", "a4", [], {}, ["rock"], { number: 9 }],
  // In Codenames, whose legal clues no list holds, some of these are none.
  ...["ocean", "TWO WORDS", "s"].map((word) => ({ type: "clue", word, number: 2 })),
  ...[{ type: "guess", word: "kraken" }, { type: "pass" }],
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
/** How often each answer was given, over all runs. */
const seen = new Map<string, number>();

/** Every role of a game with an agent of its own: the first one's is `who`, the next one's `gap` further, and so on. */
function seated(agents: Run["agents"], template: GameId, who: number, gap: number): Record<string, string> {
  const { roles } = games[template];
  const others = agents.map((_, index) => pick(agents, who + gap + index)).filter((one) => one !== pick(agents, who));
  const order = [pick(agents, who), ...others];
  return Object.fromEntries(roles.map((role, index) => [role, pick(order, index).agent_id]));
}

/** What begins a session, or is refused. */
function createBody({ agents }: Run, { who, where, n }: Op): object {
  const template = pick(gameIds, where);
  const [first = "", second = ""] = games[template].roles;
  const good = { template, participants: seated(agents, template, who, 1 + (n % 3)) };
  const { [first]: one = "", [second]: _, ...others } = good.participants;
  const bad: readonly object[] = [
    { ...good, participants: { ...others, [first]: one, [second]: "nobody" } },
    { ...good, participants: { ...others, [first]: one, [second]: one } },
    { ...good, participants: { ...others, [first]: one } },
    { ...good, participants: { [first]: pick(agents, who + 1).agent_id, [second]: pick(agents, who + 2).agent_id } },
    { ...good, template: "go.v1" },
    { ...good, options: { seed: "mine" } },
    { ...good, seed: "mine" },
  ];
  return n % 2 ? pick(bad, n >> 1) : { ...good, spectators: n % 4 ? "none" : "public" };
}

/** A request made of an op in the world as it is. */
function askedOf(run: Run, given: Op): Asked {
  const { agents, world } = run;
  const { deed, who, n } = given;
  const tables = [...world.tables.values()];
  const open = deed === "again" ? tables.filter(({ tick, turnTick }) => tick > turnTick) : [];
  const table = pick(open.length > 0 ? open : tables, given.where);
  const { game, id, participants } = table;
  const next = pick(game.toAct(table.state).length > 0 ? game.toAct(table.state) : game.roles, n);
  const token = agents[who]?.token ?? "";
  const actor = agents.find(({ agent_id }) => agent_id === participants[next])?.token ?? "";
  const key = given.key === null ? {} : { key: given.key };
  const read = (path: string): Asked => ({ method: "GET", path, token });
  const post = (sender: string, body: unknown, path = `/sessions/${id}/actions`): Asked => {
    return { method: "POST", path, token: sender, body: JSON.stringify(body), ...key };
  };
  const legal = game.legalActions(table.state, next);
  const action = legal.length > 0 ? pick(legal, n >> 2) : pick(JUNK, n);
  const expected_tick = game.info.simultaneous && n % 3 === 0 ? undefined : table.tick;
  switch (deed) {
    case "act":
      return post(actor, { action, expected_tick });
    case "stale":
      return post(actor, { action, expected_tick: Math.max(0, table.tick + pick([-1, -2, 1, 7], n)) });
    case "again": {
      const last = participants[table.log.at(-1)?.role ?? next];
      const sender = agents.find(({ agent_id }) => agent_id === last)?.token ?? "";
      return post(sender, { action, expected_tick: pick([expected_tick, table.tick + 1, table.tick - 1], n) });
    }
    case "meddle":
      return post(token, { action, expected_tick: pick([expected_tick, expected_tick, undefined], n >> 4) });
    case "junk":
      return post(actor, { action: pick(JUNK, n), expected_tick });
    case "malformed":
      return { ...post(actor, {}, n % 4 ? undefined : "/sessions"), body: pick(MALFORMED, n) };
    case "repeat":
      return pick(run.asked, n);
    case "create":
      return post(token, createBody(run, given), "/sessions");
    case "forge": {
      const token = pick(["", "forged", agents[who]?.agent_id ?? "", sha256Hex(actor), `${actor}x`, actor.slice(1)], n);
      return pick([{ ...read(`/sessions/${id}/state`), token }, post(token, { action, expected_tick })], n >> 3);
    }
    case "foreign": {
      const path = `/sessions/${pick([agents[who]?.agent_id, "nobody", id.toUpperCase(), `${id}%00`], n)}`;
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
      return read(`/sessions/${id}/state?wait_after_tick=${pick([-1, table.tick - 1, table.tick], n)}&timeout_s=0`);
    case "watch":
      return read(`/sessions/${id}/events${n % 3 ? "" : "?last_event_id=0"}`);
    case "list":
      return read(n % 3 ? "/sessions" : `/sessions?agent_id=${pick(agents, n).agent_id}`);
    case "open":
      return read(pick(["/health", "/ready", "/metrics", "/openapi.json"], n));
    default:
      return read(`/sessions/${id}/${deed}`);
  }
}

/** One session of each game and some variants, each of other agents. */
const OPENING: readonly object[] = [
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

/** Four new agents with their sessions. */
async function begin(): Promise<Run> {
  const agents = await Promise.all([0, 1, 2, 3].map(() => host.agent()));
  const seedOf = (id: string): string => observer.rows("SELECT seed FROM sessions WHERE session_id = ?", id)[0].seed;
  const tokens = new Map(agents.map(({ token, agent_id }) => [token, agent_id]));
  const world: World = { agents: tokens, tables: new Map(), replies: new Map(), seedOf };
  const before = sizes(observer);
  const run: Run = { host, observer, agents, world, before, seen, asked: [], heard: [], hangUp: new AbortController() };
  for (const [index, body] of OPENING.entries()) {
    const participants = seated(agents, (body as { template: GameId }).template, index, 1 + (index % 3));
    const text = JSON.stringify({ ...body, participants });
    const asked = { method: "POST", path: "/sessions", token: pick(agents, index).token, body: text };
    run.asked.push(asked);
    await exchange(run, [asked]);
  }
  expect(run.world.tables.size).toBe(OPENING.length);
  return run;
}

it("four adversaries are answered as the documents say, and learn nothing that is hidden", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 45, maxLength: 80, size: "max" }), async (steps) => {
      const run = await begin();
      try {
        for (const ops of steps) {
          const asked = ops.map((one) => {
            const request = askedOf(run, one);
            run.asked.push(request);
            return request;
          });
          await exchange(run, asked);
        }
        await audit(run);
        await streamsAreWhole(run);
        nothingLeaked(run);
      } finally {
        run.hangUp.abort();
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 14_000 },
  );
  // Without each of these the property would be about nothing.
  for (const one of ["200", "201", "401 UNAUTHORIZED", "403 FORBIDDEN", "404 NOT_FOUND", "409 CONFLICT"]) {
    expect(seen.get(one), one).toBeGreaterThan(0);
  }
  for (const code of ["INVALID_REQUEST", "INVALID_ACTION", "ALREADY_ACTED"]) {
    expect(seen.get(`400 ${code}`), code).toBeGreaterThan(0);
  }
});
