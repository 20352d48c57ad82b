/** The commands of the model of the session host: creating a session and acting in it. */
import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  type Code,
  isOver,
  type ModelSession,
  rejection,
  type Step,
  statusOf,
  type World,
} from "./world.ts";

/** `POST /sessions` */
export function create(world: World, { body }: ApiRequest, me: string, answer: ApiAnswer): Step {
  const rejected = (code: Code) => rejection(world, code);
  const fields = fieldsOf(body, ["template", "participants", "options?", "spectators?"]);
  const { template, participants, options = {}, spectators = "none" } = fields ?? {};
  const isShaped = typeof template === "string" && isRecord(participants) && isRecord(options);
  if (!isShaped || (spectators !== "none" && spectators !== "public")) return rejected("INVALID_REQUEST");
  const agentIds = Object.values(participants);
  if (!agentIds.every((id) => typeof id === "string")) return rejected("INVALID_REQUEST");
  const known = [...world.agents.values()];
  if (!agentIds.every((id) => known.includes(id))) return rejected("NOT_FOUND");
  if (!agentIds.includes(me)) return rejected("FORBIDDEN");
  const game = findGame(template);
  const parsed = game?.options.safeParse(options);
  const roles = Object.keys(participants).sort();
  const isFilled =
    isDeepStrictEqual(roles, [...(game?.roles ?? [])].sort()) && new Set(agentIds).size === agentIds.length;
  if (!game || !isFilled || !parsed?.success) return rejected("INVALID_REQUEST");
  const id = answer.status === 201 ? String(JSON.parse(answer.text).session_id) : "a new id";
  const expected = { status: 201, body: { session_id: id, template, status: "active" } };
  if (answer.status !== 201 || world.sessions.has(id))
    return { expected: { status: 201, body: "a new session" }, world };
  const effective = game.optionsOfNew?.(parsed.data) ?? parsed.data;
  const state = game.initialState({ options: effective, seed: world.seedOf(id) });
  const seats = participants as Record<string, string>;
  const isPublic = spectators === "public";
  const session: ModelSession = { id, game, participants: seats, isPublic, state, tick: 0, turnTick: 0, log: [] };
  return { expected, world: { ...world, sessions: new Map(world.sessions).set(id, session) } };
}

/** `POST /sessions/:id/actions` */
export function act(world: World, { body }: ApiRequest, session: ModelSession, role: string): Step {
  const rejected = (code: Code) => rejection(world, code);
  const { game, state, tick, turnTick } = session;
  const { simultaneous } = game.info;
  const fields = fieldsOf(body, ["action", simultaneous ? "expected_tick?" : "expected_tick"]);
  if (!fields) return rejected("INVALID_REQUEST");
  const given = fields.expected_tick ?? (simultaneous ? tick : null);
  const isTick = Number.isSafeInteger(given) && Number(given) >= 0;
  if (!isTick) return rejected("INVALID_REQUEST");
  if (isOver(session)) return rejected("INVALID_ACTION");
  const toAct = game.toAct(state);
  if (simultaneous && !toAct.includes(role)) return rejected("ALREADY_ACTED");
  if (simultaneous ? Number(given) < turnTick : given !== tick) return rejected("CONFLICT");
  if (!toAct.includes(role)) return rejected("INVALID_ACTION");
  const { data: action } = game.action.safeParse(fields.action);
  const legal = game.legalActions(state, role);
  const isListed = legal.some((legalAction) => isDeepStrictEqual(legalAction, action));
  const isLegal = isListed || (game.info.listsSample === true && action !== undefined);
  const applied = isLegal ? game.applyAction(state, role, action) : null;
  if (!applied?.ok) return rejected("INVALID_ACTION");
  const line = { tick, role, action, agent_id: String(session.participants[role]) };
  const next: ModelSession = {
    ...session,
    state: applied.value,
    tick: tick + 1,
    turnTick: toAct.length === 1 ? tick + 1 : turnTick,
    log: [...session.log, line],
  };
  const taken = { tick: next.tick, state: game.viewState(next.state, role), status: statusOf(next) };
  return {
    expected: { status: 200, body: taken },
    world: { ...world, sessions: new Map(world.sessions).set(session.id, next) },
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
