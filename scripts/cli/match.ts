import { Option } from "commander";
import { clockFlag, countOption, moveMsFlag, withPermissionOptions } from "#shared/runtime/command-options.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import { BOT_FILES } from "../../player/loaders/bot-files.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds `league match`. */
export function addMatchCommand(): void {
  withPermissionOptions(
    subcommand(
      "match",
      "Play many games between bots and print which one is better, by how much and how sure that is.",
      [
        "npm run league -- match ./my-bot.ts counter --game rps --games 1000",
        "npm run league -- match new.ts old.ts --game chess --openings book.epd --sprt elo0=0,elo1=10",
        "npm run league -- match ./a.ts ./b.ts counter greedy --game chess     # every two bots, with ratings",
        'npm run league -- match "./a.py#matches=one" ./b.py --game rps        # a process for each match of a.py',
        "npm run league -- match --resume                                      # after Ctrl-C",
      ],
    ),
  )
    .argument(
      "[bots...]",
      `two or more bots: a built-in bot, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, llm:URL#MODEL or the URL of a player; NAME=BOT names it`,
    )
    .option(
      "--game <game>",
      "id of the game, its name or its file (default: the first game that a bot exports, else rps)",
    )
    .option(
      "--option <name=value...>",
      "options of the game, e.g. best_of=5 (default: those of the game; best_of=9 in rps)",
    )
    .option(
      "--games <n>",
      "games of each two bots, with --gauntlet of the first bot and each other (default: 100; with --sprt at most 20000)",
      countOption,
    )
    .option(
      "--concurrency <n>",
      "games that are played at the same time (default: by the kind of the bots)",
      countOption,
    )
    .option("--sprt [hypotheses]", "play until a sequential test decides, e.g. elo0=0,elo1=10,alpha=0.05,beta=0.05")
    .option("--gauntlet", "let only the first bot play against all others")
    .option("--openings <file>", "opening book in EPD or PGN (chess); both games of a pair have the same opening")
    .addOption(
      new Option("--openings-order <order>", "order of the openings (default: random)").choices([
        "random",
        "sequential",
      ]),
    )
    .option("--openings-plies <n>", "plies that are taken from a game of a book in PGN (default: all)", countOption)
    .addOption(clockFlag("no clocks"))
    .addOption(moveMsFlag())
    .option(
      "--seed <seed>",
      "make the games repeatable; at least 32 hexadecimal digits with a player at a URL (default: a random seed)",
    )
    .option("--trusted", "run the code of .ts and .js bots in this process with all its rights, which is faster")
    .option("--wire", "play over HTTP with a process for each agent, as a league")
    .option("--json", "print one JSON document on stdout")
    .option("--csv [folder]", "also write CSV files into a folder (default: league-report)")
    .option("--pgn [folder]", "also write the games as PGN into a folder (default: league-report; chess)")
    .option("--quiet", "print no progress")
    .option("--data <folder>", "folder of the runs", DATA_FOLDER)
    .option("--resume", "continue the newest unfinished match")
    .action(async (bots: string[], options) => exitWith((await import("../commands/match.ts")).match(bots, options)));
}
