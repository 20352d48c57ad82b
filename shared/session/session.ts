import type { Game, Outcome, Role } from "../games/game.ts";
import { follows } from "../lib/result.ts";
import type { ClockState } from "../lib/time-control.ts";
import { clocksAfterAction, clocksAfterForfeit, startClocks } from "./clock.ts";
import type { Entry, Fault } from "./entry.ts";
import { appliedAction, outcomeIn, rolesToAct } from "./game-answers.ts";

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
export function advance(session: Session, state: unknown, clocks: ClockState | null, closesTurn: boolean): Session {
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
