import type { Game, Role } from "../games/game.ts";
import { sha256Hex } from "../lib/hash.ts";
import { err, invariant, ok, type Result } from "../lib/result.ts";
import type { TimeControl } from "../lib/time-control.ts";
import { clocksAfterAction } from "./clock.ts";
import type { Entry, Fault } from "./entry.ts";
import { appliedAction, rolesToAct } from "./game-answers.ts";
import { advance, evolve, evolveCreated, type Session } from "./session.ts";

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
