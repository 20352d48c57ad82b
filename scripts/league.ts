#!/usr/bin/env node
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Argument, Option } from "commander";
import {
  clockFlag,
  countOption,
  databaseOption,
  endpointOption,
  gameFilesOption,
  inspectOption,
  inspectPortOption,
  joinCodeOption,
  moveMsFlag,
  nameOption,
  originOption,
  playersOption,
  portOption,
  refereesOption,
  verboseOption,
  withPermissionOptions,
} from "#shared/runtime/command-options.ts";
import {
  DATA_FOLDER,
  DEFAULT_CONFIG,
  DEFAULT_CONFIG_TEXT,
  MANAGER_ENDPOINT,
  PORT_RANGES,
  portHelp,
} from "#shared/runtime/defaults.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { BOT_FILES } from "../player/loaders/bot-files.ts";
import {
  addArchiveCommands,
  addBotCommands,
  addCheckCommand,
  addDatabaseCommands,
  addGameCommands,
  addMatchCommand,
  addOperatorCommands,
  addPersonalDataCommands,
  exitWith,
  program,
  subcommand,
  withFormatOptions,
} from "./command-line.ts";

/** The default data folder of `league mcp`. It is in the project's folder, because an MCP host may start the command in any folder. */
const MCP_DATA = fileURLToPath(new URL("../data/mcp", import.meta.url));

const configArgument = (): Argument =>
  new Argument("[config]", "config file, JSON with comments").default(DEFAULT_CONFIG, DEFAULT_CONFIG_TEXT);

// MCP hosts start this file directly, without the --require of the npm scripts. Each command loads its modules after this.
createRequire(import.meta.url)("../shared/runtime/compile-cache.cjs");

// A reader may close the output early, e.g. `league run --json | head`. This is not an error.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

withFormatOptions(
  subcommand("run", "Play every league of a config and print the standings.", [
    "npm start                                      # the same as: npm run league -- run",
    "npm start -- config/my-league.json --seed 7    # another config, repeatable",
    "npm start -- --keep                            # keep the page of standings open",
    "npm start -- --format swiss --rounds 5         # another format for every league",
    "npm start -- --resume                          # continue an interrupted run",
  ]),
)
  .addArgument(configArgument())
  .option("--keep", "keep running after the last match, with a page of standings")
  .option("--json", "print one JSON document on stdout instead of tables")
  .option(
    "--seed <seed>",
    "make matches and results repeatable; at least 32 hexadecimal digits if the config has players that the command does not start (default: a random seed)",
  )
  .addOption(clockFlag("those of the config"))
  .option("--crosstable", "also print the results of each player against each other player")
  .option("--quiet", "print no progress")
  .option("--resume", "continue the newest unfinished run with its config and seed")
  .action(async (config: string, options) => exitWith((await import("./commands/run.ts")).run(config, options)));

withFormatOptions(
  subcommand("serve", "Run a league manager and referees for players that join.", [
    "npm run league -- serve --players 4                        # players on this machine",
    "npm run league -- serve --lan --players 4                  # players on other machines too",
    "npm run league -- serve --lan --players 4 --join-code oak  # only players with this code",
    "npm run league -- serve --players 8 --format swiss         # another format for every league",
    "npm run league -- serve --players 4 --data data-2          # the same leagues again, in a new folder",
    "npm run league -- serve --database postgres:///league      # one of several managers of a PostgreSQL database",
  ]),
)
  .addArgument(configArgument())
  .option(
    "--players <n>",
    "start each league when n players have joined, at least 2 (default: as the config says, else when the operator starts it)",
    playersOption,
  )
  .option(
    "--seed <seed>",
    "make matches and results repeatable, at least 32 hexadecimal digits (default: a random seed)",
  )
  .addOption(clockFlag("those of the config"))
  .option("--lan", "listen on every address, so that players on other machines can join (default: this machine only)")
  .option(
    "--join-code <word>",
    "only players and referees that send this code may join (default: all may join)",
    joinCodeOption,
  )
  .option("--data <folder>", "folder of the leagues; a new folder plays them again (default: the config's)")
  .option("--port <port>", "port of the manager (default: the config's)", portOption)
  .addOption(new Option("--host <host>", "address to listen on (default: the config's)").conflicts("lan"))
  .option("--referees <n>", "number of referees to start; 0 for a manager only (default: the config's)", refereesOption)
  .addOption(databaseOption())
  .option(
    "--url <url>",
    "address at which the other managers of the database reach this one (default: its own)",
    originOption,
  )
  .action(async (config: string, options) => exitWith((await import("./commands/serve.ts")).serve(config, options)));

addOperatorCommands();

withPermissionOptions(
  subcommand("join", "Join a league with one player.", [
    "npm run league -- join random --name Ann",
    "npm run league -- join ./my-bot.ts --name Ann --manager http://192.168.1.7:8000/mcp",
    "npm run league -- join uci:stockfish --name Fish --league chess",
    "npm run league -- join 'lines:python3 bot.py' --name Ann",
    "npm run league -- join human --name Ann        # a person: opens the page on which Ann plays",
    "npm run league -- join manual --name Ann       # moves come through the tool make_move",
    "npm run league -- join random --name Ann --pull --manager https://league.example/mcp   # behind a router",
  ]),
)
  .argument("<bot>", `a built-in bot, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, llm:URL#MODEL, human or manual`)
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option(
    "--name <name>",
    "display name in the league (default: bot and port, with the address if the manager is on another machine)",
    nameOption,
  )
  .option("--port <port>", portHelp("player"), portOption)
  .option("--league <id...>", "leagues to enter (default: every open league of its games)")
  .option("--join-code <word>", "the join code of the league (default: none)", joinCodeOption)
  .option("--pull", "poll an inbox at the manager instead of being called: for players behind a router or a firewall")
  .addOption(gameFilesOption())
  .addOption(verboseOption())
  .addOption(inspectOption("the time limits of the league remain"))
  .addOption(inspectPortOption())
  .option("--data <folder>", "folder of the log and the token", DATA_FOLDER)
  .action(async (bot: string, options) =>
    bot === "human"
      ? exitWith((await import("./commands/people.ts")).joinAsPerson(options))
      : (await import("./commands/join.ts")).join(bot, options),
  );

addCheckCommand();

withPermissionOptions(
  subcommand("play", "Play one match between two bots and print its moves and its result.", [
    "npm run league -- play greedy counter --game chess",
    "npm run league -- play ./my-bot.ts random --game rps --option best_of=5 --seed 7",
    "npm run league -- play random random --game ./my-game.ts",
  ]),
)
  .argument(
    "<first>",
    "bot of the first role: a built-in bot, a file, uci:COMMAND, lines:COMMAND or llm:URL#MODEL; NAME=BOT names it",
  )
  .argument("<second>", "bot of the second role")
  .option(
    "--game <game>",
    "id of the game, e.g. chess.v1, its name, e.g. chess, or the file of a game (default: the first game that a .ts or .js bot exports, else rps)",
  )
  .option(
    "--option <name=value...>",
    "options of the game, e.g. best_of=5 (default: those of the game; best_of=9 in rps)",
  )
  .option("--seed <seed>", "make the match repeatable (default: a random seed)")
  .addOption(clockFlag("no clocks"))
  .addOption(moveMsFlag())
  .option(
    "--data <folder>",
    "folder that keeps the logs and records (default: a temporary folder that is removed unless the match is aborted)",
  )
  .addOption(verboseOption())
  .addOption(inspectOption("the time limits are then half a day"))
  .addOption(inspectPortOption())
  .option("--json", "print one JSON document on stdout")
  .action(async (first: string, second: string, options) =>
    exitWith((await import("./commands/play.ts")).play(first, second, options)),
  );

addMatchCommand();
addBotCommands();
addGameCommands();

const roleOption = (flag: string): Option =>
  new Option(flag, "player of this role (default: as --people says)").choices(["user", "llm"]);
subcommand("codenames", "Play Codenames at this terminal with a model at an OpenAI-compatible endpoint.", [
  "npm run league -- codenames --llm http://127.0.0.1:11434/v1 --model llama3.2",
  "npm run league -- codenames --people all       # users only, no model",
  "npm run league -- codenames --continue         # continue the newest game",
])
  .option("--llm <url>", "base URL of the endpoint, e.g. http://127.0.0.1:11434/v1 (default: none)")
  .option("--model <name>", "name of the model (default: none)")
  .option("--key-env <name>", "environment variable with the endpoint's key (default: OPENAI_API_KEY, if it is set)")
  .option("--timeout-ms <ms>", "time limit for one answer of the model, milliseconds", countOption, 120_000)
  .option("--max-tokens <n>", "maximum length of one answer in tokens (default: set by the game)", countOption)
  .option("--people <roles>", "roles that users play, separated by commas, or all or none (default: red_team)")
  .addOption(roleOption("--red-spymaster <player>"))
  .addOption(roleOption("--red-team <player>"))
  .addOption(roleOption("--blue-spymaster <player>"))
  .addOption(roleOption("--blue-team <player>"))
  .option("--words <source>", "built-in, llm, or 25 words separated by commas (default: a form asks for them)")
  .option("--url <url>", "endpoint of a running referee (default: the command starts one)")
  .option("--data <folder>", "folder of the games", DATA_FOLDER)
  .option("--continue [token]", "continue the game with this token, or the newest game (default: a new game)")
  .action(async (options) => exitWith((await import("./commands/codenames.ts")).codenames(options)));

addArchiveCommands();
addPersonalDataCommands();
addDatabaseCommands();

subcommand("mcp", "Serve MCP on stdin and stdout, for hosts that start a command.", [
  "npm run --silent league -- mcp                                     # host games",
  "npm run --silent league -- mcp --url http://127.0.0.1:8001/mcp     # forward to a running server",
])
  .addOption(
    new Option("--url <url>", "endpoint of a referee or league manager to forward to (default: host games)")
      .argParser(endpointOption)
      .conflicts(["port", "data", "game"]),
  )
  .option(
    "--port <port>",
    `port of the pages and of HTTP clients (default: the first free one of ${PORT_RANGES.referee.join("-")})`,
    portOption,
  )
  .addOption(gameFilesOption())
  .addOption(new Option("--data <folder>", "folder of games and logs").default(MCP_DATA, "data/mcp of this program"))
  .action(async (options) => (await import("./commands/mcp.ts")).mcp(options));

if (process.argv.length <= 2) {
  program.outputHelp();
  process.exit(EXIT.usage);
}
await program.parseAsync();
