import { fileURLToPath } from "node:url";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { formatIds } from "#shared/formats/registry.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
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
  newLeagueOption,
  originOption,
  playersOption,
  portOption,
  refereesOption,
  takenByNpm,
  verboseOption,
  withExamples,
  withPermissionOptions,
  withUsageExit,
} from "#shared/runtime/command-options.ts";
import {
  DATA_FOLDER,
  DEFAULT_CONFIG,
  DEFAULT_CONFIG_TEXT,
  MANAGER_ENDPOINT,
  PORT_RANGES,
  portHelp,
} from "#shared/runtime/defaults.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { endWithNpm } from "#shared/runtime/process/parent-watchdog.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { BOT_FILES } from "../player/loaders/bot-files.ts";
import type { Places } from "./archive/personal-data.ts";
import { EXPORT_FOLDER, REPORT_FOLDER, REPORT_FORMATS, type ReportFormat } from "./archive/reports/report-formats.ts";
import type { ExportSource } from "./commands/export.ts";

/** The command line of `league`. */
export const program = withUsageExit(new Command("league"))
  .description("Plays leagues of games between programs, people and language models.")
  .version(VERSION);
withExamples(program, [
  "npm start                                             # play the default league",
  "npm run league -- play greedy counter --game chess    # play one match",
  "npm run league -- serve --lan --players 4             # run a league for other machines",
  "npm run league -- COMMAND --help                      # show examples and defaults of a command",
]).addHelpText("after", "\nExit codes: 0 ok, 1 failed, 2 usage, 3 config, 130 interrupted.");

/** Adds all commands, in the order in which the help lists them. */
export function addCommands(): void {
  addRunCommand();
  addServeCommand();
  addOperatorCommands();
  addJoinCommand();
  addCheckCommand();
  addPlayCommand();
  addMatchCommand();
  addBotCommands();
  addGameCommands();
  addCodenamesCommand();
  addArchiveCommands();
  addPersonalDataCommands();
  addDatabaseCommands();
  addMcpCommand();
}

/** Adds a command with examples. */
const subcommand = (usage: string, description: string, examples: readonly string[]): Command =>
  withExamples(withUsageExit(program.command(usage)).description(description), examples);

/** Ends the process with a command's exit code, after its output has been written. */
async function exitWith(command: Promise<number>): Promise<void> {
  endWithNpm();
  process.on("uncaughtException", (thrown) => exitAfterOutput(reportFault(thrown)));
  exitAfterOutput(await command.catch(reportFault));
}

/** Exits after all output is written. A pipe buffers 64 KB; further output would be lost if the process exited immediately. */
function exitAfterOutput(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

/** Prints the error of a command and returns the exit code. A stack trace is printed only for bugs of this program. */
function reportFault(thrown: unknown): number {
  // Errors of the file system, such as a folder that cannot be written, are not bugs of this program.
  const fault = thrown instanceof StartError ? thrown.message : fileFault(thrown);
  process.stderr.write(`${fault ?? (thrown instanceof Error ? thrown.stack : String(thrown))}\n`);
  const command = program.commands.find((known) => known.name() === process.argv[2]);
  const taken = thrown instanceof StartError && command ? takenByNpm(command, process.env) : null;
  if (taken !== null) process.stderr.write(`${taken}\n`);
  return thrown instanceof StartError ? thrown.exitCode : EXIT.failed;
}

/** Adds `league run`. */
function addRunCommand(): void {
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
}

/** Adds `league serve`. */
function addServeCommand(): void {
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
    .option(
      "--referees <n>",
      "number of referees to start; 0 for a manager only (default: the config's)",
      refereesOption,
    )
    .addOption(databaseOption())
    .option(
      "--url <url>",
      "address at which the other managers of the database reach this one (default: its own)",
      originOption,
    )
    .action(async (config: string, options) => exitWith((await import("./commands/serve.ts")).serve(config, options)));
}

const configArgument = (): Argument =>
  new Argument("[config]", "config file, JSON with comments").default(DEFAULT_CONFIG, DEFAULT_CONFIG_TEXT);

/** Adds the options that replace the format of the leagues of a config. */
const withFormatOptions = (command: Command): Command =>
  command
    .option("--format <format>", `format of every league: ${formatIds.join(", ")} (default: the config's)`)
    .option("--format-option <name=value...>", "options of the format (default: the config's)")
    .option("--rounds <n>", "the format option rounds, of swiss", countOption)
    .option("--games <n>", "the format option games, of match", countOption)
    .option("--cycles <n>", "the format option cycles, of round-robin", countOption);

/** Creates a command of the operator. The operator token is in the data folder of the manager, or in LEAGUE_TOKEN. */
const operatorCommand = (name: string, description: string, args: string): Command =>
  subcommand(name, description, [
    `npm run league -- ${name} ${args}`,
    `npm run league -- ${name} ${args} --data data-class    # the data folder of the manager, as its config says`,
  ])
    .option(
      "--data <folder>",
      "data folder of the manager, with the operator token; or of league run, for its newest run",
      DATA_FOLDER,
    )
    .option(
      "--manager <url>",
      `the league manager's endpoint (default: of the manager that league serve runs with the folder, else ${MANAGER_ENDPOINT})`,
      endpointOption,
    );

/** Adds the commands of the operator of a served league. */
function addOperatorCommands(): void {
  operatorCommand("start", "Start leagues with the players that are registered now.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) =>
      exitWith((await import("./commands/operator.ts")).startLeagues(leagues, options)),
    );

  operatorCommand("schedule", "Add a match to a round of a running league.", "P01 P02 --round 3")
    .argument("<player...>", "ids or names of players, one for each role of the game")
    .addOption(new Option("--round <n>", "number of the round (required)").argParser(countOption).makeOptionMandatory())
    .option("--league <id>", "id of the league (default: the only running league with all these players)")
    .action(async (players: string[], options) =>
      exitWith((await import("./commands/operator.ts")).scheduleMatch(players, options)),
    );

  operatorCommand("remove", "Remove a player from its leagues.", "P03")
    .argument("<player>", "id or name of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("./commands/operator.ts")).removePlayer(player, options)),
    );

  operatorCommand("reset-token", "Print a new token for a player that has lost its token.", "P03")
    .argument("<player>", "id or name of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("./commands/operator.ts")).resetToken(player, options)),
    );

  addRunningCommands();
}

const running = () => import("./commands/operator.ts");

/** Adds the commands that show, open and change the leagues of a running manager. */
function addRunningCommands(): void {
  operatorCommand("open", "Open a league like one that is over, without a restart.", "lesson-2 --like lesson-1")
    .addArgument(new Argument("<league>", "id of the new league").argParser(newLeagueOption))
    .addOption(new Option("--like <league>", "id of the league that is over (required)").makeOptionMandatory())
    .action(async (league: string, options) => exitWith((await running()).openLeague(league, options)));

  operatorCommand("status", "Show leagues, players and referees.", "rps")
    .argument("[league]", "id of the league (default: all leagues)")
    .option("--json", "print one JSON document")
    .action(async (league: string | undefined, options) => exitWith((await running()).showStatus(league, options)));

  operatorCommand("pause", "Pause running leagues: no match begins until resume.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) => exitWith((await running()).pauseLeagues(leagues, options)));

  operatorCommand("resume", "Continue paused leagues.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) => exitWith((await running()).resumeLeagues(leagues, options)));

  operatorCommand("extend", "Raise the length of a running league.", "rps cycles=2")
    .argument("<league>", "id of the league")
    .argument("<name=number...>", "option of the format: cycles, rounds, games, matches or max_games, e.g. rounds=7")
    .action(async (league: string, raised: string[], options) =>
      exitWith((await running()).extendLeague(league, raised, options)),
    );

  operatorCommand("end", "End a running league with the standings so far. Its open matches are cancelled.", "rps")
    .argument("[league]", "id of the league (default: the only running league)")
    .action(async (league: string | undefined, options) => exitWith((await running()).endLeague(league, options)));

  operatorCommand("add", "Add registered players to a league, or with --round a match.", "P05 --league rps")
    .argument("<player...>", "ids or names of players; with --round one for each role of the game")
    .addOption(new Option("--league <id>", "id of the league (required)").makeOptionMandatory())
    .addOption(new Option("--round <n>", "add a match of these players to this round").argParser(countOption))
    .action(async (players: string[], options) => exitWith((await running()).addTo(players, options)));

  operatorCommand("annul", "Make a match count for no player.", "R2M1 --league rps --reason 'wrong bot'")
    .argument("<match>", "id of the match, e.g. R2M1")
    .addOption(new Option("--league <id>", "id of the league (required)").makeOptionMandatory())
    .addOption(new Option("--reason <text>", "the reason, which is public (required)").makeOptionMandatory())
    .action(async (match: string, options) => exitWith((await running()).annulMatch(match, options)));

  operatorCommand("logs", "Print the events of a league.", "rps --follow")
    .argument("<league>", "id of the league")
    .option("--follow", "continue with each new event until the league is over")
    .action(async (league: string, options) => exitWith((await running()).printLogs(league, options)));
}

/** Adds `league join`. */
function addJoinCommand(): void {
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
    .option(
      "--league <id...>",
      "leagues to enter (default: every open league of its games, and when they are over the next ones)",
    )
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
}

/** Adds the command that checks a player. */
function addCheckCommand(): void {
  withPermissionOptions(
    subcommand("check", "Check a player: send it every message of a league and print what to fix.", [
      "npm run league -- check ./my-bot.ts",
      "npm run league -- check ./my-bot.ts --game rps --option best_of=5",
      "npm run league -- check http://127.0.0.1:8150/mcp --game rps    # a running player",
      "npm run league -- check --listen                                # a player that registers at port 8000 by itself",
    ]),
  )
    .argument("[player]", "a bot as in league join, or the URL of a running player")
    .addOption(new Option("--listen", "wait until a player registers").conflicts(["tokenFile"]))
    .option("--port <port>", "with --listen: the port of the manager", portOption, PORT_RANGES.manager[0])
    .option("--lan", "with --listen: listen on every address (default: this machine only)")
    .option(
      "--token-file <file>",
      "file with the token or secret of a running player (default: none, so a player that checks signatures rejects the messages)",
    )
    .option("--game <game...>", "ids or files of the games to check (default: all games of the player)")
    .option(
      "--option <name=value...>",
      "with one --game: its options, e.g. best_of=5 (default: those that leagues use)",
    )
    .option("--only <check...>", "numbers or ids of checks; the checks that they need run too (default: all)")
    .option("--move-ms <ms>", "time limit for a move, milliseconds", countOption, Timeouts.parse({}).move_ms)
    .option("--json", "print one JSON document on stdout")
    .action(async (player: string | undefined, options) =>
      exitWith((await import("./commands/check.ts")).check(player, options)),
    );
}

/** Adds `league play`. */
function addPlayCommand(): void {
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
}

/** Adds `league match`. */
function addMatchCommand(): void {
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
    .action(async (bots: string[], options) => exitWith((await import("./commands/match.ts")).match(bots, options)));
}

/** Adds the commands for authors of bots. */
function addBotCommands(): void {
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
    .action(async (name: string, options) => exitWith((await import("./commands/new-bot.ts")).newBot(name, options)));

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
      exitWith((await import("./commands/dev.ts")).dev(bot, opponent, options)),
    );
}

/** Adds the commands for authors of games. */
function addGameCommands(): void {
  subcommand(
    "new-game",
    "Write a folder with a game to start from, a bot, a recorded game, and a README with the next commands.",
    ["npm run league -- new-game my-game"],
  )
    .argument("<name>", "folder to write; it must not exist. Its name is the name of the game")
    .action(async (name: string) => exitWith((await import("./commands/own-game.ts")).newGame(name)));

  subcommand("check-game", "Check a game of your own: play it at random and explain each violated obligation.", [
    "npm run league -- check-game ./my-game/game.ts",
    "npm run league -- check-game ./my-game/game.ts --option heap=20    # with other options too",
    "npm run league -- check-game ./my-game/game.ts --record            # after an intended change of the rules",
  ])
    .argument("<file>", "the .ts or .js file of the game")
    .option(
      "--option <name=value...>",
      "options to check besides the defaults and those of the recorded games (default: none)",
    )
    .option("--record", "record the games beside the file again, and one with these options")
    .option("--json", "print one JSON document on stdout")
    .action(async (file: string, options) =>
      exitWith((await import("./commands/own-game.ts")).checkGameFile(file, options)),
    );
}

/** Adds the commands for the results of a league. */
function addArchiveCommands(): void {
  subcommand("export", "Write a league with its logs and seeds into a folder, or reports of it.", [
    "npm run league -- export                       # the newest run, into league-export",
    "npm run league -- export --out results --sign league.key",
    "npm run league -- export --format csv,pgn      # reports of the newest run, into league-report",
    "npm run league -- export league-export --format html   # a report of an export, as one page",
    "npm run league -- export --database postgres://league@db.example/league",
  ])
    .argument(
      "[folder]",
      `folder of a run, or a data folder for its newest run; for reports also an export (default: "${DATA_FOLDER}")`,
    )
    .addOption(databaseOption())
    .addOption(
      new Option(
        "--format <formats>",
        `json (the folder that "league verify" checks), or reports: ${REPORT_FORMATS.join(", ")}; several with commas`,
      )
        .argParser(formatsOption)
        .default("json"),
    )
    .option("--out <folder>", `folder to write (default: ${EXPORT_FOLDER} for json, ${REPORT_FOLDER} for reports)`)
    .addOption(gameFilesOption())
    .option("--sign <keyfile>", "sign the export with this Ed25519 private key in PEM format (default: not signed)")
    .action(async (folder: string | undefined, options, command: Command) =>
      exitWith((await import("./commands/export.ts")).exportRun(sourceOf(command, folder), options)),
    );

  subcommand("ratings", "Rate the bots of all runs in some folders, each version of a bot by itself.", [
    "npm run league -- ratings                              # all runs of the data folder",
    "npm run league -- ratings data exports/may exports/june --game rps",
    "npm run league -- ratings data-class --json",
    "npm run league -- ratings exports/may --database postgres://league@db.example/league",
  ])
    .argument("[folders...]", `data folders, folders of runs, and exports (default: "${DATA_FOLDER}")`)
    .addOption(databaseOption())
    .option("--game <game>", "only the ratings of this game")
    .option("--json", "print one JSON document on stdout")
    .action(async (named: readonly string[], options, command: Command) => {
      const isOfCommandLine = command.getOptionValueSource("database") === "cli";
      const database = isOfCommandLine || named.length === 0 ? options.database || undefined : undefined;
      const folders = named.length > 0 || database !== undefined ? named : [DATA_FOLDER];
      const { printRatings } = await import("./archive/ratings.ts");
      await exitWith(printRatings(folders, { ...options, database }));
    });

  subcommand("verify", "Check an export: replay every match and recompute the standings.", [
    "npm run league -- verify league-export",
    "npm run league -- verify league-export --key league.pub",
    "npm run league -- verify league-export --game ./my-game.ts   # a league of your own game",
    "npm run league -- verify --database postgres://league@db.example/league",
  ])
    .argument("[folder]", "folder of an export")
    .addOption(databaseOption())
    .addOption(gameFilesOption())
    .option("--key <keyfile>", "require a signature with this Ed25519 key in PEM format (default: no key is required)")
    .option("--json", "print one JSON document on stdout")
    .action(async (folder: string | undefined, options, command: Command) =>
      exitWith((await import("./commands/export.ts")).verify(sourceOf(command, folder), options)),
    );
}

/** Returns the folder or the database that a command reads. Rejects with StartError if both are named. */
async function sourceOf(command: Command, folder: string | undefined): Promise<ExportSource> {
  const database = chosenDatabase(command, folder !== undefined, "a folder");
  return database === null ? { folder } : { database };
}

/** Adds the commands for the personal data of players. */
function addPersonalDataCommands(): void {
  subcommand("personal-data", "List what a data folder or a database contains about a player.", [
    "npm run league -- personal-data Ann",
    "npm run league -- personal-data P03 --data data-class --json",
    "npm run league -- personal-data Ann --database postgres://league@db.example/league",
  ])
    .argument("<player>", PLAYER)
    .option("--data <folder>", DATA, DATA_FOLDER)
    .addOption(databaseOption())
    .option("--json", "print one JSON document on stdout")
    .action(async (player: string, options, command: Command) => {
      const { listPersonalData } = await import("./archive/personal-data.ts");
      await exitWith((async () => listPersonalData(player, { ...options, ...placesOf(command) }))());
    });

  subcommand("forget", "Remove a player and erase its personal data. This cannot be undone.", [
    "npm run league -- forget Ann --data data-class",
    "npm run league -- forget Ann --database postgres://league@db.example/league",
    "npm run league -- forget P03 --manager http://192.168.1.7:8000/mcp",
  ])
    .argument("<player>", PLAYER)
    .option("--data <folder>", DATA, DATA_FOLDER)
    .addOption(databaseOption())
    .option(
      "--manager <url>",
      "let the manager at this endpoint erase the player, by its id (default: of the manager that uses the folder)",
      endpointOption,
    )
    .action(async (player: string, options, command: Command) => {
      const { forget } = await import("./commands/operator.ts");
      await exitWith((async () => forget(player, { ...options, ...placesOf(command) }))());
    });
}

/** Returns where a command looks for the data of a player. Throws StartError if `--manager` and `--database` are named. */
function placesOf(command: Command): Places {
  const { data } = command.opts<{ readonly data: string }>();
  const isNamed = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  const hasBoth = isNamed("database") && isNamed("data");
  const isOther = isNamed("manager") || (isNamed("data") && !hasBoth);
  const database = chosenDatabase(command, isOther, "--manager") ?? undefined;
  return { data, database, files: hasBoth ? data : undefined };
}

const DATA = "data folder of the manager, or folder of a run; beside --database a folder with logs";

const PLAYER = "name of the player, in all runs of the folder, or its id, e.g. P03, in the newest run";

/** Parses the formats of an export. The folder of the format json has no other files, so it is written alone. */
function formatsOption(text: string): "json" | readonly ReportFormat[] {
  if (text === "json") return text;
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const formats = REPORT_FORMATS.filter((format) => names.includes(format));
  if (formats.length === names.length) return formats;
  throw new InvalidArgumentError(`give json, or one or more of ${REPORT_FORMATS.join(", ")}, separated by commas.`);
}

/** Adds the commands for the PostgreSQL database of a league with several managers. */
function addDatabaseCommands(): void {
  const group = subcommand("db", "Prepare, check and back up the PostgreSQL database of a league.", [
    "export DATABASE_URL=postgres://league_owner:PASSWORD@db.example/league",
    "npm run league -- db migrate --role league_manager",
    "npm run league -- db check",
    "npm run league -- db backup league.dump",
  ]);
  const add = (usage: string, description: string, examples: readonly string[]): Command =>
    withExamples(withUsageExit(group.command(usage)).description(description), examples).addOption(databaseOption());

  add("migrate", "Create or update the tables. The user of the URL becomes or is their owner.", [
    "npm run league -- db migrate                            # as the owner of the database",
    "npm run league -- db migrate --role league_manager      # managers connect as this role",
  ])
    .option(
      "--role <name>",
      "role of the managers: it may append to logs and read them, but not change them (default: the roles of earlier calls)",
    )
    .action(async (options) => exitWith((await import("./commands/database.ts")).migrateDatabase(options)));

  add("check", "Check the hashes of all events, and what protects them from changes.", [
    "npm run league -- db check    # also while managers are running",
  ]).action(async (options) => exitWith((await import("./commands/database.ts")).checkDatabase(options)));

  add("backup <file>", "Write all tables into a file, with pg_dump.", [
    "npm run league -- db backup league-2026-11-24.dump    # also while managers are running",
  ]).action(async (file: string, options) =>
    exitWith((await import("./commands/database.ts")).backUpDatabase(file, options)),
  );
}

/**
 * Returns the URL of the database that a command uses instead of a folder; null if it uses a folder. DATABASE_URL counts only if no folder is named.
 * `folder` describes how the folder is named on the command line, e.g. `--data`. Throws StartError if a folder and `--database` are named.
 */
function chosenDatabase(command: Command, isFolderNamed: boolean, folder: string): string | null {
  const { database } = command.opts<{ readonly database?: string }>();
  if (!database) return null;
  if (!isFolderNamed) return database;
  if (command.getOptionValueSource("database") === "env") return null;
  throw new StartError(`name either ${folder} or --database`, EXIT.usage);
}

/** Adds `league codenames`. */
function addCodenamesCommand(): void {
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
}

const roleOption = (flag: string): Option =>
  new Option(flag, "player of this role (default: as --people says)").choices(["user", "llm"]);

/** Adds `league mcp`. */
function addMcpCommand(): void {
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
}

/** The default data folder of `league mcp`. It is in the project's folder, because an MCP host may start the command in any folder. */
const MCP_DATA = fileURLToPath(new URL("../data/mcp", import.meta.url));
