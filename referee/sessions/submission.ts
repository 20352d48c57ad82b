import type { Game, Role } from "#shared/games/game.ts";
import { err } from "#shared/lib/result.ts";
import type { Command } from "#shared/session/session.ts";
import type { Alongside, Committed } from "./live-sessions.ts";

/** An action of a role, as it was received. */
export interface Submission {
  readonly role: Role;
  /** Any JSON value. A value that is not an action of the game is rejected as illegal. */
  readonly action: unknown;
  /** The tick that the session must have; null for no check. */
  readonly expectedTick: number | null;
  /** Whether a driver submits the action. It may submit actions that only drivers may make, such as skipping a role. */
  readonly byDriver?: boolean;
  /** The time that the role is charged, in whole milliseconds. Required in a session with clocks, ignored in others. */
  readonly spentMs?: number;
  /** Returns further statements for the transaction of the action, given the session after it. */
  readonly alongside?: Alongside;
}

/** The command of a submission. `fault` is the reason why its value is not an action of the game; null if it is one. */
interface Parsed {
  readonly command: Command;
  readonly fault: string | null;
}

/** Parses a submission. Actions that only drivers may make, and values that are not actions, become an action that every game rejects. */
export function parsedSubmission(game: Game, submission: Submission): Parsed {
  const { role, action, expectedTick, byDriver = false, spentMs } = submission;
  const parsed = game.action.safeParse(action);
  const isForbidden = !byDriver && parsed.success && game.isDriverAction?.(parsed.data) === true;
  const act = { type: "act", role, action: isForbidden ? undefined : parsed.data, expectedTick } as const;
  return {
    command: spentMs === undefined ? act : { ...act, spentMs },
    fault: parsed.success ? null : (parsed.error.issues[0]?.message ?? "not an action of this game"),
  };
}

/** The result of a command, with the fault of its value as the reason of an illegal action. */
export const explained = (decided: Committed, { fault }: Parsed): Committed =>
  !decided.ok && decided.error.code === "ILLEGAL_ACTION" && fault !== null
    ? err({ ...decided.error, message: fault })
    : decided;
