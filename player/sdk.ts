/**
 * The public types of the package `agent-league`, for authors of bots.
 * The default export of a bot file is a function from a turn to an action, or an object with `choose`, or a class or a function
 * without parameters that creates such an object for each match.
 */
import type { Game } from "#shared/games/game.ts";
import type { ActionOf, GameId, RoleOf, ViewOf } from "#shared/games/registry.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { GameResult } from "#shared/protocol/messages.ts";

export type { GameId, GameResult, Random };

/** The game of a bot: the id of a built-in game, or the type of the definition of another game, `typeof myGame`. */
export type BotGame = GameId | Game;

/** A turn of a match. */
export interface Turn<G extends BotGame = GameId> {
  readonly game: G extends Game ? G["id"] : G;
  readonly role: RoleOf<G>;
  /** The part of the state that this role may know. */
  readonly view: ViewOf<G>;
  /** All legal actions. They are computed on first access. */
  readonly legal: readonly ActionOf<G>[];
  /** The version of the session. For each tick at most one action is played. */
  readonly tick: number;
  /** The earlier turns of this player in the match, oldest first, without rejected actions. */
  readonly history: readonly { readonly tick: number; readonly view: ViewOf<G>; readonly action: unknown }[];
  /** The reason why the previous answer of this turn was rejected; null if the turn is requested for the first time. */
  readonly rejection: string | null;
  readonly clock: {
    /** The end of this turn: by the limit for a move or, if it is earlier, by the clock of this role. */
    readonly deadline: Date;
    /** The milliseconds until the end of this turn. */
    remainingMs(): number;
    /** The clocks of the match when this turn was requested; null in a match without clocks. */
    readonly match: MatchClocks | null;
  };
  /** Random numbers. A league with the same seed draws the same numbers. A repeated request after a rejected action draws others. */
  readonly random: Random;
  /** Aborted when the time limit of this turn or the match is over. */
  readonly signal: AbortSignal;
  /** Writes its arguments as one line to the player's terminal and log. A value that is not text is written as Node.js shows it. */
  log(...values: readonly unknown[]): void;
}

/** The clocks of a match. Each role gains `incrementMs` after each of its actions. */
export interface MatchClocks {
  readonly initialMs: number;
  readonly incrementMs: number;
  /** The time that each role has left, by role. */
  readonly remainingMs: Readonly<Record<string, number>>;
}

/** The facts of a match, passed to a bot when the match begins. */
export interface MatchInfo {
  readonly leagueId: string;
  readonly matchId: string;
  /** The number of the attempt at this match, from 1. It is higher if the league has the match played again. */
  readonly epoch: number;
  readonly game: string;
  readonly options: unknown;
  readonly role: string;
  /** Player ids by role. */
  readonly roles: Readonly<Record<string, string>>;
  /** The SHA-256 of the seed of the match, which the result reveals. */
  readonly seedCommitment: string;
  /** Why the league has the match played again, in words. Absent in the first attempt. */
  readonly restartReason?: string;
}

/** A bot with state. `start` and `end` are called at the beginning and the end of its match; errors that they throw are only shown. */
export interface BotObject<G extends BotGame = GameId> {
  start?(info: MatchInfo): void | Promise<void>;
  choose(turn: Turn<G>): Choice<G>;
  end?(result: GameResult): void | Promise<void>;
}

/** The result of a bot: an action of its game, or a promise of one. It is unknown for a bot of all games, whose types cannot depend on `turn.game`. */
export type Choice<G extends BotGame = GameId> = GameId extends G ? unknown : ActionOf<G> | Promise<ActionOf<G>>;

/** A bot of one game, for example `Bot<"chess.v1">` or `Bot<typeof myGame>`, or of all games. */
export type Bot<G extends BotGame = GameId> =
  | ((turn: Turn<G>) => Choice<G>)
  | BotObject<G>
  | (() => BotObject<G>)
  | (new () => BotObject<G>);
