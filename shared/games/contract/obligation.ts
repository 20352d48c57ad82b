import type { Game, Role, Viewer } from "../game.ts";
import type { Trace } from "./play.ts";

/** The values that show a violation. A field is absent if it does not matter. */
export interface Evidence {
  readonly options?: unknown;
  /** The seed of the game that was played at random. */
  readonly seed?: string;
  /** The number of actions before the state. */
  readonly step?: number;
  readonly state?: unknown;
  readonly role?: Role;
  readonly viewer?: Viewer;
  readonly action?: unknown;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

/** Thrown by a check. The message states what the game does wrong. */
export class Violation extends Error {
  readonly evidence: Evidence;
  /** The change of the game that removes the violation, if it differs from the advice of the obligation. */
  readonly advice: string | null;
  constructor(problem: string, evidence: Evidence, advice: string | null = null) {
    super(problem);
    this.evidence = evidence;
    this.advice = advice;
  }
}

/** A game with random games of it. */
export interface Subject {
  readonly game: Game;
  /** Options that the game is tested with, besides its defaults. */
  readonly variants: readonly unknown[];
  readonly traces: readonly Trace[];
}

/** An obligation of a game. */
export interface Obligation {
  readonly id: string;
  /** The obligation as a sentence. */
  readonly title: string;
  /** The usual change of a game that violates it. */
  readonly advice: string;
  /** Whether the obligation exists for a game; absent if it exists for all games. */
  readonly applies?: (game: Game) => boolean;
  /** Whether the check needs no random games. */
  readonly needsNoTraces?: true;
  /** Throws a Violation if the game violates the obligation. */
  check(subject: Subject): void;
}

/** Throws a Violation unless the condition is true. */
export function must(condition: boolean, problem: string, evidence: () => Evidence): void {
  if (!condition) throw new Violation(problem, evidence());
}
