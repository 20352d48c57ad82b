/** The requests that change state, as the model of the session host carries them out. */
import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import {
  type Asked,
  type Code,
  type Got,
  isOver,
  rejection,
  type Step,
  statusOf,
  type Table,
  type World,
} from "./world.ts";

/** `POST /sessions` */
export function create(world: World, { body }: Asked, me: string, got: Got): Step {
  const rejected = (code: Code) => rejection(world, code);
  const fields = fieldsOf(body, ["template", "participants", "options?", "spectators?"]);
  const { template, participants, options = {}, spectators = "none" } = fields ?? {};
  const isShaped = typeof template === "string" && isRecord(participants) && isRecord(options);
  if (!isShaped || (spectators !== "none" && spectators !== "public")) return rejected("INVALID_REQUEST");
  const seated = Object.values(participants);
  if (!seated.every((one) => typeof one === "string")) return rejected("INVALID_REQUEST");
  const known = [...world.agents.values()];
  if (!seated.every((one) => known.includes(one))) return rejected("NOT_FOUND");
  if (!seated.includes(me)) return rejected("FORBIDDEN");
  const game = findGame(template);
  const parsed = game?.options.safeParse(options);
  const roles = Object.keys(participants).sort();
  const isFilled = isDeepStrictEqual(roles, [...(game?.roles ?? [])].sort()) && new Set(seated).size === seated.length;
  if (!game || !isFilled || !parsed?.success) return rejected("INVALID_REQUEST");
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

/** `POST /sessions/:id/actions` */
export function act(world: World, { body }: Asked, table: Table, role: string): Step {
  const rejected = (code: Code) => rejection(world, code);
  const { game, state, tick, turnTick } = table;
  const { simultaneous } = game.info;
  const fields = fieldsOf(body, ["action", simultaneous ? "expected_tick?" : "expected_tick"]);
  if (!fields) return rejected("INVALID_REQUEST");
  const given = fields.expected_tick ?? (simultaneous ? tick : null);
  const isTick = Number.isSafeInteger(given) && Number(given) >= 0;
  if (!isTick) return rejected("INVALID_REQUEST");
  if (isOver(table)) return rejected("INVALID_ACTION");
  const toAct = game.toAct(state);
  if (simultaneous && !toAct.includes(role)) return rejected("ALREADY_ACTED");
  if (simultaneous ? Number(given) < turnTick : given !== tick) return rejected("CONFLICT");
  if (!toAct.includes(role)) return rejected("INVALID_ACTION");
  const { data: action } = game.action.safeParse(fields.action);
  const legal = game.legalActions(state, role);
  const isListed = legal.some((one) => isDeepStrictEqual(one, action));
  const isLegal = isListed || (game.info.listsSample === true && action !== undefined);
  const applied = isLegal ? game.applyAction(state, role, action) : null;
  if (!applied?.ok) return rejected("INVALID_ACTION");
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

type Fields = Record<string, unknown>;

/** The fields of a JSON object; names of optional fields end with a question mark. Null if a field is missing or unknown. */
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
