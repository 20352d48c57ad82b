import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findGameNamed } from "#shared/games/registry.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { resolveOtherEndings } from "#shared/runtime/files/other-endings.ts";
import { whereThrown } from "#shared/runtime/files/thrown-position.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { checkedAction, formOf, gamesOf, NotAnAction } from "../bot-process/bot-object.ts";
import { codeFilesOf } from "../isolation/permissions.ts";
import { hashOfImports, type LoadedBot, LoggedFault, type MatchBot } from "../loaded-bot.ts";
import type { BotObject, MatchInfo, Turn } from "../sdk.ts";

/**
 * Loads a .ts or .js file as a bot whose code runs in this thread with all rights of this process. Errors are reported as those of a bot in a process of
 * its own. Throws StartError (exit code 3) if the file does not load.
 */
export async function trustedBot(spec: string): Promise<LoadedBot> {
  if (!existsSync(resolve(spec))) throw new StartError(`${spec}: no such file`, EXIT.config);
  const file = realpathSync(resolve(spec));
  resolveOtherEndings();
  let exported: { readonly default?: unknown; readonly games?: unknown };
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (thrown) {
    throw new StartError(`${spec} does not load: ${whereThrown(thrown, file)}`, EXIT.config);
  }
  const form = formOf(exported.default);
  const games = gamesOf(exported.games);
  const fault =
    [form, games].find((one) => typeof one === "string") ?? (typeof form === "string" ? form : form.fault());
  if (typeof form === "string" || typeof games === "string" || fault !== null) {
    throw new StartError(`${spec}: ${String(fault)}`, EXIT.config);
  }
  const { ofBot } = await codeFilesOf(file);
  return {
    name: spec,
    hash: hashOfImports(file, ofBot),
    ...(games && { games: games.map((game) => findGameNamed(game)?.id ?? game) }),
    readsHistory: true,
    create: (log) => new TrustedMatch(() => form.create(), file, log),
  };
}

/** Plays one match. Errors of the bot are shown with their position, and the referee receives the text that it receives from a bot process. */
class TrustedMatch implements MatchBot {
  readonly #file: string;
  readonly #log: (line: string) => void;
  readonly #create: () => BotObject;
  #bot: BotObject | null = null;

  constructor(create: () => BotObject, file: string, log: (line: string) => void) {
    this.#create = create;
    this.#file = file;
    this.#log = log;
  }

  async start(info: MatchInfo): Promise<void> {
    await this.#hook((bot) => bot.start?.(info));
  }

  choose(turn: Turn): unknown {
    try {
      this.#bot ??= this.#create();
      const choice = this.#bot.choose(turn);
      if (!(choice instanceof Promise)) return checkedAction(choice);
      return choice.then(checkedAction).catch((thrown) => this.#fail(thrown));
    } catch (thrown) {
      return this.#fail(thrown);
    }
  }

  async end(result: GameResult): Promise<void> {
    await this.#hook((bot) => bot.end?.(result));
  }

  async #hook(run: (bot: BotObject) => unknown): Promise<void> {
    try {
      this.#bot ??= this.#create();
      await run(this.#bot);
    } catch (thrown) {
      this.#log(whereThrown(thrown, this.#file));
    }
  }

  #fail(thrown: unknown): never {
    if (thrown instanceof NotAnAction) throw thrown; // the player shows it
    this.#log(whereThrown(thrown, this.#file));
    throw new LoggedFault("the bot threw an error");
  }
}
