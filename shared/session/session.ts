import type { ShapeFault } from "#shared/games/contract/shape.ts";
import type { Game, Illegal, Outcome, Role } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { err, follows, invariant, ok, type Result } from "#shared/lib/result.ts";
import { kindOf } from "#shared/lib/text.ts";
import type { ClockState, TimeControl } from "#shared/lib/time-control.ts";
import { clocksAfterAction, clocksAfterForfeit, startClocks } from "./clocks.ts";
import type { Entry, Fault } from "./entry.ts";

export type Termination = "normal" | "forfeit" | "aborted" | "expired";

/** One run of a game: the fold of its log. */
export interface Session {
  readonly id: string;
  readonly game: Game;
  readonly options: unknown;
  /** Role to agent id. */
  readonly participants: Readonly<Record<Role, string>>;
  readonly seedCommitment: string;
  /** The version of the session: the number of actions it has recorded. */
  readonly tick: number;
  /** The tick at which the open turn began; lower than `tick` while a simultaneous turn waits for its last choice. */
  readonly turnTick: number;
  readonly state: unknown;
  /** The clocks with the charges of all recorded actions; null in a session without clocks. */
  readonly clocks: ClockState | null;
  /** The clocks at `turnTick`. Those of a simultaneous turn would show which roles have acted. */
  readonly turnClocks: ClockState | null;
  readonly status: "active" | "completed";
  readonly termination: Termination | null;
  readonly outcome: Outcome | null;
  readonly faults: readonly Fault[];
  /** The reason for the end in snake_case; null while the session is active. */
  readonly reason: string | null;
}

/** The fields of a session that describe its end. */
export type Ending = Pick<Session, "game" | "state" | "termination" | "outcome" | "faults" | "reason">;

/** Returns the session that a `created` entry and its seed begin. Throws if the game rejects the options or if the participants
 * are not exactly the roles of the game. */
export function evolveCreated(game: Game, entry: Extract<Entry, { type: "created" }>, seed: string): Session {
  const filledRoles = Object.keys(entry.participants);
  const isComplete = filledRoles.length === game.roles.length && game.roles.every((role) => filledRoles.includes(role));
  follows(isComplete, `${game.id} is played by ${game.roles.join(" and ")}, not by ${filledRoles.join(" and ")}`);
  const clocks = entry.clock ? startClocks(entry.clock, game.roles) : null;
  return {
    id: entry.session_id,
    game,
    options: entry.options,
    participants: entry.participants,
    seedCommitment: entry.seed_commitment,
    tick: 0,
    turnTick: 0,
    state: game.initialState({ options: game.options.parse(entry.options), seed }),
    clocks,
    turnClocks: clocks,
    status: "active",
    termination: null,
    outcome: null,
    faults: [],
    reason: null,
  };
}

/** Returns the session after an entry that is already in the log. Throws if the entry cannot follow. */
export function evolve(session: Session, entry: Entry): Session {
  follows(entry.type !== "created", "a session has one created entry");
  follows(session.status === "active", `${entry.type} after the session's end`);
  follows(entry.tick === session.tick, `${entry.type} at tick ${entry.tick}, session at ${session.tick}`);
  switch (entry.type) {
    case "acted": {
      follows(session.participants[entry.role] === entry.agent, `${entry.agent} does not play ${entry.role}`);
      const closesTurn = rolesToAct(session.game, session.state).length === 1;
      const applied = appliedAction(session.game, session.state, entry.role, entry.action);
      follows(applied.ok, `the log has an illegal action at tick ${entry.tick}`);
      return advance(session, applied.value, clocksAfterAction(session.clocks, entry), closesTurn);
    }
    case "forfeited": {
      const areRolesKnown = entry.faults.every((fault) => session.game.roles.includes(fault.role));
      follows(entry.faults.length > 0 && areRolesKnown, "a forfeit names one or more roles of the game");
      const clocks = clocksAfterForfeit(session.clocks, entry.faults);
      const turnClocks = clocksAfterForfeit(session.turnClocks, entry.faults);
      return { ...session, clocks, turnClocks, status: "completed", ...endedEarly(entry) };
    }
    case "aborted":
    case "expired":
      return { ...session, status: "completed", ...endedEarly(entry) };
  }
}

/**
 * Returns how a session ended, or null while it is active. Uses only its last state and its last entry, so that long
 * lists of sessions need no replay.
 */
export function endingOf(game: Game, state: unknown, last: Entry): Ending | null {
  if (last.type !== "created" && last.type !== "acted") return { game, state, outcome: null, ...endedEarly(last) };
  const outcome = game.outcome(state);
  return outcome && { game, state, outcome, faults: [], termination: "normal", reason: outcome.reason };
}

/** Returns the fields that describe an end by forfeit, abort or expiry. */
function endedEarly(
  entry: Exclude<Entry, { type: "created" | "acted" }>,
): Pick<Session, "termination" | "reason" | "faults"> {
  switch (entry.type) {
    case "forfeited": {
      const causes = entry.faults.map((fault) => fault.cause);
      return { termination: "forfeit", reason: causes.join(","), faults: entry.faults };
    }
    case "aborted":
      return { termination: "aborted", reason: entry.reason, faults: [] };
    case "expired":
      return { termination: "expired", reason: "expired", faults: [] };
  }
}

/** Returns the session after an action that the rules have applied. `closesTurn` tells whether no other role is to act in the turn. */
function advance(session: Session, state: unknown, clocks: ClockState | null, closesTurn: boolean): Session {
  const tick = session.tick + 1;
  const outcome = outcomeIn(session.game, state);
  return {
    ...session,
    state,
    tick,
    turnTick: closesTurn ? tick : session.turnTick,
    clocks,
    turnClocks: closesTurn ? clocks : session.turnClocks,
    ...(outcome && { outcome, status: "completed", termination: "normal", reason: outcome.reason }),
  };
}

/** Codes of the rejections of `decide`, in the order in which they take precedence. */
export const sessionRejectionCodes = [
  "SESSION_OVER",
  "ALREADY_ACTED",
  "CONFLICT",
  "NOT_YOUR_TURN",
  "ILLEGAL_ACTION",
] as const;

/** The reason why a command was not accepted. The session is unchanged. */
export interface Rejection<Code extends string = (typeof sessionRejectionCodes)[number]> {
  readonly code: Code;
  /** Text for people. */
  readonly message: string;
}

export type Command =
  | {
      readonly type: "act";
      readonly role: Role;
      /** The action as the game's action schema has parsed it. */
      readonly action: unknown;
      /**
       * The tick that the caller has seen; null for no check. In a sequential game it must equal the current tick, in a
       * simultaneous game it must not lie in a closed turn.
       */
      readonly expectedTick: number | null;
      /** The time that the role is charged, in whole milliseconds. Required in a session with clocks, ignored in others. */
      readonly spentMs?: number;
    }
  | { readonly type: "forfeit"; readonly faults: readonly Fault[] }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "expire" };

/** The result of an accepted command: the entry to append and the session after it. */
export interface Decision {
  readonly entry: Entry;
  readonly next: Session;
}

export interface SessionSetup {
  readonly id: string;
  readonly game: Game;
  readonly options: unknown;
  readonly participants: Readonly<Record<Role, string>>;
  readonly seed: string;
  /** Absent for a session without clocks. */
  readonly clock?: TimeControl | null;
  readonly at: string;
}

/** Returns parsed options in the form in which a new session records them. */
export const optionsOfNew = (game: Game, options: unknown): unknown => game.optionsOfNew?.(options) ?? options;

/**
 * Creates a session. Throws if the game rejects the options or if the participants are not exactly the roles of the
 * game.
 */
export function create(setup: SessionSetup): Decision {
  const entry: Entry = {
    type: "created",
    session_id: setup.id,
    game: setup.game.id,
    options: optionsOfNew(setup.game, setup.options),
    participants: setup.participants,
    seed_commitment: sha256Hex(setup.seed),
    ...(setup.clock && { clock: setup.clock }),
    at: setup.at,
  };
  return { entry, next: evolveCreated(setup.game, entry, setup.seed) };
}

/**
 * Decides a command against a session. A pure function. Returns the entry to append with the session after it, or a
 * rejection. If several rejections apply, it returns the first one in the order of `sessionRejectionCodes`.
 */
export function decide(session: Session, command: Command, at: string): Result<Decision, Rejection> {
  if (session.status === "completed") {
    const message = session.termination === "expired" ? "The session has expired" : "The session is over";
    return err({ code: "SESSION_OVER", message });
  }
  switch (command.type) {
    case "act":
      return decideAct(session, command, at);
    case "forfeit":
      return ended(session, { type: "forfeited", tick: session.tick, faults: command.faults, at });
    case "abort":
      return ended(session, { type: "aborted", tick: session.tick, reason: command.reason, at });
    case "expire":
      return ended(session, { type: "expired", tick: session.tick, at });
  }
}

function decideAct(
  session: Session,
  command: Extract<Command, { type: "act" }>,
  at: string,
): Result<Decision, Rejection> {
  const { role, action, expectedTick, spentMs } = command;
  const toAct = rolesToAct(session.game, session.state);
  const { simultaneous } = session.game.info;
  if (!session.game.roles.includes(role)) return err({ code: "NOT_YOUR_TURN", message: "No such role" });
  if (simultaneous && !toAct.includes(role)) {
    return err({ code: "ALREADY_ACTED", message: "You have already acted in this turn" });
  }
  const isStale =
    expectedTick !== null && (simultaneous ? expectedTick < session.turnTick : expectedTick !== session.tick);
  if (isStale) {
    return err({ code: "CONFLICT", message: `Expected tick ${expectedTick}, but the session is at ${session.tick}` });
  }
  if (!toAct.includes(role)) return err({ code: "NOT_YOUR_TURN", message: "Not your turn" });
  const applied = appliedAction(session.game, session.state, role, action);
  if (!applied.ok) return err({ code: "ILLEGAL_ACTION", message: applied.error.message });
  const agent = session.participants[role];
  invariant(agent !== undefined, `role ${role} has no agent`);
  const charged = session.clocks && { spent_ms: spentMs };
  const entry = { type: "acted", tick: session.tick, role, agent, action, ...charged, at } as const;
  const clocks = clocksAfterAction(session.clocks, entry);
  return ok({ entry, next: advance(session, applied.value, clocks, toAct.length === 1) });
}

const ended = (session: Session, entry: Entry): Result<Decision, Rejection> =>
  ok({ entry, next: evolve(session, entry) });

/** A function of a game returned a value that the interface `Game` does not allow. No player is at fault. */
export class GameFault extends Error {
  readonly game: Game;
  /** The function of the game, and what is wrong with its value. */
  readonly fault: ShapeFault;

  constructor(game: Game, name: keyof Game, message: string) {
    super(`${game.id}: ${name} ${message}`);
    this.game = game;
    this.fault = { path: [name], message };
  }
}

/** Returns the roles that are to act. Throws GameFault if the game returns no list. */
export function rolesToAct(game: Game, state: unknown): readonly Role[] {
  const roles: unknown = game.toAct(state);
  if (!Array.isArray(roles)) throw new GameFault(game, "toAct", `must return a list of roles, not ${kindOf(roles)}`);
  return roles;
}

/** Returns the state after an action, or the reason why it is illegal. Throws GameFault if the game returns neither. */
function appliedAction(game: Game, state: unknown, role: Role, action: unknown): Result<unknown, Illegal> {
  const applied: Partial<Result<unknown, Illegal>> | undefined = game.applyAction(state, role, action);
  if (typeof applied?.ok !== "boolean")
    throw new GameFault(game, "applyAction", `must return ok(STATE) or err({ message }), not ${kindOf(applied)}`);
  return applied as Result<unknown, Illegal>;
}

/** Returns the outcome of a state, or null while the game goes on. Throws GameFault if a role has no finite score, or if there is no reason. */
function outcomeIn(game: Game, state: unknown): Outcome | null {
  const outcome = game.outcome(state);
  if (!outcome) return null;
  for (const role of game.roles) {
    const score: unknown = (outcome as Partial<Outcome>).scores?.[role];
    if (!Number.isFinite(score))
      throw new GameFault(game, "outcome", `returns a score that is not a finite number: ${kindOf(score)} for ${role}`);
  }
  if (typeof outcome.reason !== "string")
    throw new GameFault(game, "outcome", `must return a reason, not ${kindOf(outcome.reason)}`);
  return outcome;
}
