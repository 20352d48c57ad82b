/**
 * What a bot sees and what it may be: the public types of the package `agent-league`.
 * A bot file is one `export default`: a function from a turn to an action, an object with `choose`, or a function without
 * parameters, or a class, that makes such an object anew for each match.
 */
import type { ActionOf, GameId, ViewOf } from "#shared/games/registry.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { GameResult } from "#shared/protocol/messages.ts";

export type { GameId, GameResult, Random };

/** One turn of one match, as its player sees it. */
export interface Turn<G extends GameId = GameId> {
  readonly game: G;
  readonly role: string;
  /** What this role may know of the state. */
  readonly view: ViewOf<G>;
  /** Every legal action, listed when first read. */
  readonly legal: readonly ActionOf<G>[];
  /** The session's version; the same tick is never asked for two different actions. */
  readonly tick: number;
  /** This player's earlier turns of the match, oldest first; what was refused in this one is not among them. */
  readonly history: readonly { readonly tick: number; readonly view: ViewOf<G>; readonly action: unknown }[];
  readonly clock: { readonly deadline: Date; remainingMs(): number };
  /** Seeded by the match: the same league with the same seed draws the same numbers; a turn that is asked again draws others. */
  readonly random: Random;
  /** Aborted when the time for this turn is over. */
  readonly signal: AbortSignal;
  /** Writes a line to the player's terminal and log. */
  log(message: string): void;
}

/** What a bot is told when a match begins. */
export interface MatchInfo {
  readonly leagueId: string;
  readonly matchId: string;
  /** Higher when a match is played again after a fault of the league's own. */
  readonly epoch: number;
  readonly game: string;
  readonly options: unknown;
  readonly role: string;
  /** Role to player id. */
  readonly roles: Readonly<Record<string, string>>;
}

export interface BotObject<G extends GameId = GameId> {
  start?(info: MatchInfo): void | Promise<void>;
  choose(turn: Turn<G>): unknown;
  end?(result: GameResult): void | Promise<void>;
}

export type Bot<G extends GameId = GameId> =
  | ((turn: Turn<G>) => unknown)
  | BotObject<G>
  | (() => BotObject<G>)
  | (new () => BotObject<G>);
