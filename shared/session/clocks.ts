import type { Role } from "#shared/games/game.ts";
import { follows } from "#shared/lib/result.ts";
import { type ClockState, type TimeControl, timeControlText } from "#shared/lib/time-control.ts";
import type { Entry, Fault } from "./entry.ts";

/** Returns the clocks at the start of a match. */
export const startClocks = ({ initial_ms, increment_ms }: TimeControl, roles: readonly Role[]): ClockState => ({
  initial_ms,
  increment_ms,
  remaining_ms: Object.fromEntries(roles.map((role) => [role, initial_ms])),
});

/** Returns the time that a role has left, in whole milliseconds. */
export function timeLeft({ remaining_ms }: ClockState, role: Role): number {
  const left = remaining_ms[role];
  if (left === undefined) throw new Error(`${role} has no clock`);
  return left;
}

/**
 * Charges a role the time of its action, in whole milliseconds, and adds the increment. Returns the clocks after the
 * action, or null if the role has lost on time: it has used all of its time.
 */
export function charge(clocks: ClockState, role: Role, spentMs: number): ClockState | null {
  const left = timeLeft(clocks, role) - spentMs;
  return left > 0 ? withTimeOf(clocks, role, left + clocks.increment_ms) : null;
}

/** Returns the clocks after an action in the log; null in a session without clocks. Throws if its charge cannot follow. */
export function clocksAfterAction(
  clocks: ClockState | null,
  { role, spent_ms }: Pick<Extract<Entry, { type: "acted" }>, "role" | "spent_ms">,
): ClockState | null {
  if (clocks === null) {
    follows(spent_ms === undefined, `${role} is charged a time in a session without clocks`);
    return null;
  }
  follows(spent_ms !== undefined, `${role} is charged no time in a session with clocks`);
  const charged = charge(clocks, role, spent_ms);
  follows(charged !== null, `${role} acted after its time was over`);
  return charged;
}

/** Returns the clocks after a forfeit in the log: a role that has lost on time has no time left. */
export function clocksAfterForfeit(clocks: ClockState | null, faults: readonly Fault[]): ClockState | null {
  const late = faults.filter(({ cause }) => cause === "clock").map(({ role }) => role);
  follows(late.length === 0 || clocks !== null, `${late.join(" and ")} lost on time in a session without clocks`);
  return clocks && late.reduce((after, role) => withTimeOf(after, role, 0), clocks);
}

/** The fault of a role that has lost on time. */
export const clockFault = ({ initial_ms, increment_ms }: ClockState) =>
  ({
    code: "G002",
    cause: "clock",
    detail: `lost on time (${timeControlText({ initial_ms, increment_ms })})`,
  }) as const;

const withTimeOf = (clocks: ClockState, role: Role, leftMs: number): ClockState => ({
  ...clocks,
  remaining_ms: { ...clocks.remaining_ms, [role]: leftMs },
});
