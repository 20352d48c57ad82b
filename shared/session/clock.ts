import type { Role } from "../games/game.ts";
import type { ClockState, TimeControl } from "../lib/time-control.ts";

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

/** Returns the clocks after a role has lost on time. */
export const withFallenFlag = (clocks: ClockState, role: Role): ClockState => withTimeOf(clocks, role, 0);

const withTimeOf = (clocks: ClockState, role: Role, leftMs: number): ClockState => ({
  ...clocks,
  remaining_ms: { ...clocks.remaining_ms, [role]: leftMs },
});
