/**
 * A model of the session host for its tests, written from the description of the API. It uses the games for their rules, and none of the
 * host's code.
 */
import { isDeepStrictEqual } from "node:util";
import type { Game, Viewer } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";

/** A request as it is sent. */
export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** Idempotency-Key. */
  readonly key?: string;
}

/** What came back for it. */
export interface Got {
  readonly status: number;
  readonly text: string;
}

export interface Exchange {
  readonly asked: Asked;
  readonly got: Got;
}

/** A session as the model knows it. */
export interface Table {
  readonly id: string;
  readonly game: Game;
  /** Role to agent id. */
  readonly participants: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
  readonly state: unknown;
  readonly tick: number;
  /** Where the open turn began. */
  readonly turnTick: number;
  readonly log: readonly {
    readonly tick: number;
    readonly role: string;
    readonly action: unknown;
    readonly agent_id: string;
  }[];
}

export interface World {
  /** Token to agent id. */
  readonly agents: ReadonlyMap<string, string>;
  readonly tables: ReadonlyMap<string, Table>;
  /** First replies, by agent and key. */
  readonly replies: ReadonlyMap<string, { readonly request: string; readonly got: Got }>;
  /** The seed that the host chose for a session. */
  readonly seedOf: (sessionId: string) => string;
}

/** What the model expects: a refusal by its code, or a body without `created_at`; `undefined` is not looked at. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly body?: unknown;
}

interface Step {
  readonly expected: Expected;
  readonly world: World;
}

const STATUS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  INVALID_ACTION: 400,
  CONFLICT: 409,
  INVALID_REQUEST: 400,
  ALREADY_ACTED: 400,
} as const;
type Code = keyof typeof STATUS;

const ROUTES =
  /^(POST \/sessions|GET \/sessions|GET \/sessions\/[^/]+\/(state|log|events)|POST \/sessions\/[^/]+\/actions)$/;
const OPEN = /^GET \/(health|ready|metrics|openapi\.json)$/;
const WHOLE = /^\d{1,9}$/;

export const viewerOf = ({ participants, isPublic }: Table, agent: string): Viewer | null =>
  Object.keys(participants).find((role) => participants[role] === agent) ?? (isPublic ? "spectator" : null);

export const isOver = ({ game, state }: Table): boolean => game.isTerminal(state);

/** What the host must answer now, and the world after it; `got` is asked for no more than the id of a new session. */
export function answerTo(world: World, asked: Asked, got: Got): Step {
  const refuse = (code: Code): Step => ({ expected: { status: STATUS[code], code }, world });
  const reply = (body: unknown, status = 200): Step => ({ expected: { status, body }, world });
  const url = new URL(asked.path, "http://host");
  const route = `${asked.method} ${url.pathname}`;
  if (OPEN.test(route)) return reply(undefined);
  if (!ROUTES.test(route)) return refuse("NOT_FOUND");
  const me = world.agents.get(asked.token);
  if (me === undefined) return refuse("UNAUTHORIZED");
  const [, , id, leaf = asked.method] = url.pathname.split("/");
  if (leaf === "GET") {
    if ((url.searchParams.get("agent_id") ?? me) !== me) return refuse("FORBIDDEN");
    return reply({ sessions: listOf(world, me) });
  }
  if (leaf === "POST") return once(world, asked, me, () => create(world, asked, me, got));
  const table = world.tables.get(id ?? "");
  if (!table) return refuse("NOT_FOUND");
  const viewer = viewerOf(table, me);
  if (viewer === null) return refuse("FORBIDDEN");
  if (leaf === "events") return reply(undefined);
  if (leaf === "log") return reply({ actions: logFor(table, viewer) });
  if (leaf === "actions") {
    if (viewer === "spectator") return refuse("FORBIDDEN");
    return once(world, asked, me, () => act(world, asked, table, viewer));
  }
  const queries = ["wait_after_tick", "timeout_s"].map((name) => url.searchParams.get(name) ?? "0");
  if (!queries.every((text) => WHOLE.test(text))) return refuse("INVALID_REQUEST");
  return reply(stateFor(table, viewer));
}

/** A key that has its reply gives it again; for another request it is refused. */
function once(world: World, { method, path, body = "", key }: Asked, me: string, perform: () => Step): Step {
  if (key === undefined) return perform();
  const invalid: Step = { expected: { status: 400, code: "INVALID_REQUEST" }, world };
  if (key.length < 1 || key.length > 200) return invalid;
  const name = JSON.stringify([me, key]);
  const request = `${method} ${path} ${body}`;
  const known = world.replies.get(name);
  if (known) {
    if (known.request !== request) return invalid;
    return { expected: { status: known.got.status, body: JSON.parse(known.got.text) }, world };
  }
  const { expected, world: after } = perform();
  if (expected.code !== undefined) return { expected, world };
  const first = { request, got: { status: expected.status, text: JSON.stringify(expected.body) } };
  return { expected, world: { ...after, replies: new Map(after.replies).set(name, first) } };
}

type Fields = Record<string, unknown>;

/** A body that is a JSON object with these fields, the optional ones with a question mark, and no others; null for another. */
function fieldsOf(body: string | undefined, names: readonly string[]): Fields | null {
  let value: unknown;
  try {
    value = JSON.parse(body ?? "{}");
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const known = names.map((name) => name.replace("?", ""));
  const needed = names.filter((name) => !name.endsWith("?"));
  const fits = Object.keys(value).every((name) => known.includes(name)) && needed.every((name) => name in value);
  return fits ? value : null;
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function create(world: World, { body }: Asked, me: string, got: Got): Step {
  const refuse = (code: Code): Step => ({ expected: { status: STATUS[code], code }, world });
  const fields = fieldsOf(body, ["template", "participants", "options?", "spectators?"]);
  const { template, participants, options = {}, spectators = "none" } = fields ?? {};
  const isShaped = typeof template === "string" && isRecord(participants) && isRecord(options);
  if (!isShaped || (spectators !== "none" && spectators !== "public")) return refuse("INVALID_REQUEST");
  const seated = Object.values(participants);
  if (!seated.every((one) => typeof one === "string")) return refuse("INVALID_REQUEST");
  const known = [...world.agents.values()];
  if (!seated.every((one) => known.includes(one))) return refuse("NOT_FOUND");
  if (!seated.includes(me)) return refuse("FORBIDDEN");
  const game = findGame(template);
  const parsed = game?.options.safeParse(options);
  const roles = Object.keys(participants).sort();
  const isFilled = isDeepStrictEqual(roles, [...(game?.roles ?? [])].sort()) && new Set(seated).size === seated.length;
  if (!game || !isFilled || !parsed?.success) return refuse("INVALID_REQUEST");
  const id = got.status === 201 ? String(JSON.parse(got.text).session_id) : "a new id";
  const expected = { status: 201, body: { session_id: id, template, status: "active" } };
  if (got.status !== 201 || world.tables.has(id)) return { expected: { status: 201, body: "a new session" }, world };
  const effective = game.optionsOfNew?.(parsed.data) ?? parsed.data;
  const state = game.initialState({ options: effective, seed: world.seedOf(id) });
  const seats = participants as Record<string, string>;
  const isPublic = spectators === "public";
  const table: Table = { id, game, participants: seats, isPublic, state, tick: 0, turnTick: 0, log: [] };
  return { expected, world: { ...world, tables: new Map(world.tables).set(id, table) } };
}

function act(world: World, { body }: Asked, table: Table, role: string): Step {
  const refuse = (code: Code): Step => ({ expected: { status: STATUS[code], code }, world });
  const { game, state, tick, turnTick } = table;
  const { simultaneous } = game.info;
  const fields = fieldsOf(body, ["action", simultaneous ? "expected_tick?" : "expected_tick"]);
  if (!fields) return refuse("INVALID_REQUEST");
  const given = fields.expected_tick ?? (simultaneous ? tick : null);
  const isTick = Number.isSafeInteger(given) && Number(given) >= 0;
  if (!isTick) return refuse("INVALID_REQUEST");
  if (isOver(table)) return refuse("INVALID_ACTION");
  const toAct = game.toAct(state);
  if (simultaneous && !toAct.includes(role)) return refuse("ALREADY_ACTED");
  if (simultaneous ? Number(given) < turnTick : given !== tick) return refuse("CONFLICT");
  if (!toAct.includes(role)) return refuse("INVALID_ACTION");
  const { data: action } = game.action.safeParse(fields.action);
  const legal = game.legalActions(state, role);
  const isListed = legal.some((one) => isDeepStrictEqual(one, action));
  const isLegal = isListed || (game.info.listsSample === true && action !== undefined);
  const applied = isLegal ? game.applyAction(state, role, action) : null;
  if (!applied?.ok) return refuse("INVALID_ACTION");
  const line = { tick, role, action, agent_id: String(table.participants[role]) };
  const next: Table = {
    ...table,
    state: applied.value,
    tick: tick + 1,
    turnTick: toAct.length === 1 ? tick + 1 : turnTick,
    log: [...table.log, line],
  };
  const taken = { tick: next.tick, state: game.viewState(next.state, role), status: statusOf(next) };
  return {
    expected: { status: 200, body: taken },
    world: { ...world, tables: new Map(world.tables).set(table.id, next) },
  };
}

const statusOf = (table: Table): string => (isOver(table) ? "completed" : "active");

export const stateFor = (table: Table, viewer: Viewer) => ({
  session_id: table.id,
  template: table.game.id,
  status: statusOf(table),
  tick: viewer === "spectator" ? table.turnTick : table.tick,
  state: table.game.viewState(table.state, viewer),
  your_role: viewer,
  legal_actions: viewer === "spectator" ? [] : table.game.legalActions(table.state, viewer),
});

/** Nobody sees another's choice of a turn that is still open. */
const logFor = ({ log, turnTick }: Table, viewer: Viewer) =>
  log.filter(({ tick, role }) => tick < turnTick || role === viewer);

const listOf = ({ tables }: World, me: string) =>
  [...tables.values()]
    .filter(({ participants }) => Object.values(participants).includes(me))
    .map((table) => {
      const { session_id, template, status, tick, your_role } = stateFor(table, viewerOf(table, me) as Viewer);
      return { session_id, template, status, tick, your_role };
    });

/** Whether an answer is the expected one; lists are held to no order. */
export function agrees({ status, code, body }: Expected, got: Got): boolean {
  if (status !== got.status) return false;
  if (code !== undefined) return JSON.parse(got.text).error.code === code;
  return body === undefined || isDeepStrictEqual(plain(body), plain(JSON.parse(got.text)));
}

/** As it is after JSON, without times, a list of sessions sorted. */
function plain(body: unknown): unknown {
  const json = JSON.parse(JSON.stringify(body, (key, value) => (key === "created_at" ? undefined : value)));
  if (!Array.isArray(json.sessions)) return json;
  return {
    sessions: json.sessions.toSorted((a: Fields, b: Fields) => (String(a.session_id) < String(b.session_id) ? -1 : 1)),
  };
}

/** The world after these exchanges in an order that explains every answer; null when none does. */
export function inSomeOrder(world: World, exchanges: readonly Exchange[]): World | null {
  if (exchanges.length === 0) return world;
  for (const [index, { asked, got }] of exchanges.entries()) {
    const step = answerTo(world, asked, got);
    if (!agrees(step.expected, got)) continue;
    const after = inSomeOrder(step.world, exchanges.toSpliced(index, 1));
    if (after) return after;
  }
  return null;
}
