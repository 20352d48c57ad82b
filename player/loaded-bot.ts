import type { GameId } from "#shared/games/registry.ts";
import type { BotObject } from "./sdk.ts";

/** The reason why a bot has chosen no action, for the referee. The bot has already written its line about it. */
export class LoggedFault extends Error {}

/** A bot that is ready to play. */
export interface LoadedBot {
  readonly name: string;
  /** The games that it plays; absent if it plays all games. */
  readonly games?: readonly GameId[];
  /** Creates the object that plays one match. */
  create(): BotObject;
  /** Releases the resources of the bot, such as the process of an engine. */
  close?(): Promise<void>;
  /** The file that error messages refer to when the bot throws; null for built-in bots. */
  readonly file: string | null;
  /** Whether the bot may read `turn.history`. Built-in bots do not, so their players need not keep every view of a match in memory. */
  readonly readsHistory: boolean;
}
