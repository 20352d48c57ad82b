import type { GameId } from "#shared/games/registry.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import type { MatchClocks, MatchInfo } from "../sdk.ts";

/** The pipes between a player and the process of its bot, as file descriptors of the process. A message is a line of JSON. */
export const PIPES = { fromPlayer: 3, toPlayer: 4 };
/** The maximum length of a message to the player. */
export const MAX_MESSAGE_BYTES = 1_000_000;

/** A turn as data. The process of the bot builds the turn of player/sdk.ts from it. */
export interface TurnData {
  readonly game: GameId;
  readonly role: string;
  readonly view: unknown;
  readonly tick: number;
  /** All legal actions; null if the player does not know the game and the request does not list them. */
  readonly legal: readonly unknown[] | null;
  /** The entries of the history that this process has not received yet. */
  readonly history: readonly unknown[];
  readonly rejection: string | null;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly remainingMs: number;
  readonly clocks: MatchClocks | null;
  /** The seed of `turn.random`. */
  readonly seed: string;
}

/** A question to the process of a bot. The process answers each question. `match` is a number that the player chooses. */
export type Question =
  | { readonly type: "start"; readonly match: number; readonly info: MatchInfo }
  | { readonly type: "turn"; readonly match: number; readonly turn: TurnData }
  | { readonly type: "end"; readonly match: number; readonly result: GameResult }
  /** The answer is the reason why the objects of the bot are invalid, or null. */
  | { readonly type: "examine" }
  /** Shows that the event loop of the process is not blocked. */
  | { readonly type: "ping" };

/** A message from the player to the process of its bot. */
export type ToBotProcess =
  | { readonly id: number; readonly question: Question }
  /** The turn with this question is over. */
  | { readonly abort: number }
  /** The match is over, and the bot gets no result. */
  | { readonly drop: number };

/** An error that the code of a bot threw. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The access that Node.js denied; absent for other errors. */
  readonly denied?: DeniedAccess | undefined;
}

export interface DeniedAccess {
  /** The name of the permission in Node.js, such as `FileSystemRead`; empty for some accesses to the network. */
  readonly permission: string;
  /** For example the path of the file. */
  readonly resource: string;
}

/** A message from the process of a bot to the player. A thrown value that is not an Error is sent as text. */
export type FromBotProcess =
  /** `games` are the ids of the games that the bot plays; absent if it plays all games. */
  | { readonly type: "loaded"; readonly games?: readonly string[] | undefined }
  /** The file is not a bot, for the reason in `fault`, or its code threw an error at its top level. */
  | {
      readonly type: "not_loaded";
      readonly fault?: string | undefined;
      readonly thrown?: ThrownError | string | undefined;
    }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown }
  | { readonly type: "threw"; readonly id: number; readonly thrown: ThrownError | string }
  /** The bot returned a value that is not an action, for the reason in `fault`. */
  | { readonly type: "no_action"; readonly id: number; readonly fault: string }
  /** The process uses more memory than it may, and ends itself. */
  | { readonly type: "over_memory" }
  /** A line that the bot has written with `turn.log`. */
  | { readonly type: "log"; readonly match: number; readonly line: string };
