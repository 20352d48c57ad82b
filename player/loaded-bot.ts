import type { GameId } from "#shared/games/registry.ts";
import type { BotObject } from "./sdk.ts";

/** A bot that is ready to play: `create` makes one for each match. */
export interface LoadedBot {
  readonly name: string;
  /** The games it plays; absent when it plays them all. */
  readonly games?: readonly GameId[];
  create(): BotObject;
  /** Ends what the bot holds, e.g. an engine's process. */
  close?(): Promise<void>;
  /** The file whose lines are named when the bot throws; null for built-in bots. */
  readonly file: string | null;
  /** Whether it may look at `turn.history`; built-in bots do not. Whoever keeps every view of a match has them collected again and again. */
  readonly looksBack: boolean;
}
