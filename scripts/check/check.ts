import type { Game } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { AskFault } from "../../referee/match/player-messages.ts";
import type { Call, Caller } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { Matches } from "./matches.ts";
import type { RegistrationRecord } from "./registration-desk.ts";
import type { Subject } from "./subject.ts";

/** A fault of the player, or behaviour that the protocol advises against. */
export interface Finding {
  readonly severity: "warn" | "fail";
  /** What is wrong, and where. */
  readonly summary: string;
  /** One line on how to fix it. */
  readonly advice: string;
  /** The exchanges that show it. */
  readonly exchanges: readonly Exchange[];
}

/** The result of a check that has run. It passes without findings. */
export interface Verdict {
  /** The facts that the check has established, for a check that passes. */
  readonly summary: string;
  readonly findings: readonly Finding[];
}

/** One check of a player. Its number is its position in the list of all checks. */
export interface Check {
  readonly id: CheckId;
  readonly title: string;
  /** The checks that must pass before this one, because their faults would also make this one fail. */
  readonly needs: readonly CheckId[];
  run(context: CheckContext): Promise<Verdict>;
}

export type CheckId =
  | "registration"
  | "reachable"
  | "json-rpc"
  | "invitation"
  | "games"
  | "moves"
  | "notifications"
  | "repeated"
  | "malformed"
  | "slow-network"
  | "parallel"
  | "token"
  | "series";

/** The player under test, the means to send it messages, and the facts that earlier checks have established. */
export interface CheckContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly caller: Caller;
  readonly matches: Matches;
  /** The registration of the player; null for a player that is checked at its URL. */
  readonly registration: RegistrationRecord | null;
  /** The player; null if it has not registered. */
  readonly subject: Subject | null;
  /** The games that the user wants to check; null for all. */
  readonly onlyGames: readonly Game[] | null;
  /** The time limit of a move in milliseconds. */
  readonly moveMs: number;
  /** The first invitation, which two checks judge. */
  readonly firstInvitation: () => Promise<Acceptance>;
  readonly facts: Facts;
}

/** The answer of the player to an invitation. */
export interface Acceptance {
  readonly game: Game;
  readonly call: Call;
  /** null if the player accepts. */
  readonly fault: AskFault | null;
}

/** Set by checks for the checks that need them. */
interface Facts {
  /** The games that the player accepts. */
  games: readonly Game[];
  /** The findings about matches that were played one after the other. */
  moves: readonly Finding[];
}

/** Returns the player. Must only be called by checks that need the check `registration`. */
export function subjectOf({ subject }: CheckContext): Subject {
  if (subject) return subject;
  throw new Error("a check without a player must be skipped");
}

export const passed = (summary: string): Verdict => ({ summary, findings: [] });
export const failed = (finding: Omit<Finding, "severity">): Verdict => ({
  summary: finding.summary,
  findings: [{ severity: "fail", ...finding }],
});
