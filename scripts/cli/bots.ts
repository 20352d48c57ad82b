import { Option } from "commander";
import { verboseOption, withPermissionOptions } from "#shared/runtime/command-options.ts";
import { BOT_FILES } from "../../player/loaders/bot-files.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds the commands for authors of bots. */
export function addBotCommands(): void {
  subcommand(
    "new-bot",
    "Write a folder with a bot to start from, and a README with the commands to play, join and debug it.",
    [
      "npm run league -- new-bot my-bot                           # TypeScript, rock, paper, scissors",
      "npm run league -- new-bot my-bot --game chess --lang py    # Python, chess",
      "npm run league -- new-bot my-bot --game ./my-game.ts       # a game of your own",
    ],
  )
    .argument("<name>", "folder to write; it must not exist")
    .option("--game <game>", "id of the game, its name without the version, or the file of a game", "rps")
    .addOption(new Option("--lang <language>", "language of the bot").choices(["ts", "js", "py", "go"]).default("ts"))
    .action(async (name: string, options) => exitWith((await import("../commands/new-bot.ts")).newBot(name, options)));

  withPermissionOptions(
    subcommand("dev", "Play the same match again each time the file of a bot or of its game is saved, until Ctrl-C.", [
      "npm run league -- dev ./my-bot.ts --game rps",
      "npm run league -- dev ./bot.py greedy --game chess --seed 7 --verbose",
    ]),
  )
    .argument("<bot>", `bot of the game's first role: ${BOT_FILES}`)
    .argument("[opponent]", "bot of the second role, as in league play", "random")
    .option("--game <game>", "id of the game, its name, or the file of a game (default: as in league play)")
    .option(
      "--option <name=value...>",
      "options of the game, e.g. best_of=5 (default: those of the game; best_of=9 in rps)",
    )
    .option("--seed <seed>", "seed of the match", "1")
    .addOption(verboseOption())
    .action(async (bot: string, opponent: string, options) =>
      exitWith((await import("../commands/dev.ts")).dev(bot, opponent, options)),
    );
}
