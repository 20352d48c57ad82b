#!/usr/bin/env node
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import {
  countOption,
  endpointOption,
  joinCodeOption,
  nameOption,
  playersOption,
  portOption,
  withExamples,
  withUsageExit,
} from "#shared/runtime/cli/options.ts";
import { DATA_FOLDER, DEFAULT_CONFIG, MANAGER_ENDPOINT, PORT_RANGES, portHelp } from "#shared/runtime/defaults.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { endWithNpm } from "#shared/runtime/process/parent-watchdog.ts";
import { VERSION } from "#shared/runtime/process/version.ts";

/** The default data folder of `league mcp`. It is in the project's folder, because an MCP host may start the command in any folder. */
const MCP_DATA = fileURLToPath(new URL("../data/mcp", import.meta.url));

// MCP hosts start this file directly, without the --require of the npm scripts. Each command loads its modules after this.
createRequire(import.meta.url)("../shared/runtime/compile-cache.cjs");

// A reader may close the output early, e.g. `league run --json | head`. This is not an error.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const program = withUsageExit(new Command("league"))
  .description("Plays leagues of games between programs, people and language models.")
  .version(VERSION);
withExamples(program, [
  "npm start                                             # play the default league",
  "npm run league -- play greedy counter --game chess    # play one match",
  "npm run league -- serve --lan --players 4             # run a league for other machines",
  "npm run league -- COMMAND --help                      # show examples and defaults of a command",
]).addHelpText("after", "\nExit codes: 0 ok, 1 failed, 2 usage, 3 config, 130 interrupted.");

const subcommand = (usage: string, description: string, examples: readonly string[]): Command =>
  withExamples(withUsageExit(program.command(usage)).description(description), examples);

subcommand("run", "Play every league of a config and print the standings.", [
  "npm start                                      # the same as: npm run league -- run",
  "npm start -- config/my-league.json --seed 7    # another config, repeatable",
  "npm start -- --keep                            # keep the page of standings open",
  "npm start -- --resume                          # continue an interrupted run",
])
  .argument("[config]", "config file, JSON with comments", DEFAULT_CONFIG)
  .option("--keep", "keep running after the last match, with a page of standings")
  .option("--json", "print one JSON document on stdout instead of tables")
  .option("--seed <seed>", "make matches and results repeatable (default: a random seed)")
  .option("--quiet", "print no progress")
  .option("--resume", "continue the newest unfinished run with its config and seed")
  .action(async (config: string, options) => exitWith((await import("./commands/run.ts")).run(config, options)));

subcommand("serve", "Run a league manager and referees for players that join.", [
  "npm run league -- serve --players 4                        # players on this machine",
  "npm run league -- serve --lan --players 4                  # players on other machines too",
  "npm run league -- serve --lan --players 4 --join-code oak  # only players with this code",
])
  .argument("[config]", "config file, JSON with comments", DEFAULT_CONFIG)
  .option(
    "--players <n>",
    "start each league when n players have joined, at least 2 (default: as the config says, else when the operator starts it)",
    playersOption,
  )
  .option("--seed <seed>", "make matches and results repeatable (default: a random seed)")
  .option("--lan", "listen on every address, so that players on other machines can join (default: this machine only)")
  .option(
    "--join-code <word>",
    "only players and referees that send this code may join (default: all may join)",
    joinCodeOption,
  )
  .action(async (config: string, options) => exitWith((await import("./commands/serve.ts")).serve(config, options)));

/** Creates a command of the operator. The operator token is in the data folder of the manager, or in LEAGUE_TOKEN. */
const operatorCommand = (name: string, description: string, args: string): Command =>
  subcommand(name, description, [
    `npm run league -- ${name} ${args}`,
    `npm run league -- ${name} ${args} --data data-class    # the data folder of the manager, as its config says`,
  ])
    .option("--data <folder>", "data folder of the manager, with the operator token", DATA_FOLDER)
    .option(
      "--manager <url>",
      `the league manager's endpoint (default: of the manager that league serve runs with the folder, else ${MANAGER_ENDPOINT})`,
      endpointOption,
    );

operatorCommand("start", "Start leagues with the players that are registered now.", "rps")
  .argument("<league...>", "ids of the leagues")
  .action(async (leagues: string[], options) =>
    exitWith((await import("./commands/operator.ts")).startLeagues(leagues, options)),
  );

operatorCommand("schedule", "Add a match to a round of a running league.", "P01 P02 --round 3")
  .argument("<player...>", "player ids, one for each role of the game")
  .addOption(new Option("--round <n>", "number of the round (required)").argParser(countOption).makeOptionMandatory())
  .option("--league <id>", "id of the league (default: the only running league with all these players)")
  .action(async (players: string[], options) =>
    exitWith((await import("./commands/operator.ts")).scheduleMatch(players, options)),
  );

operatorCommand("remove", "Remove a player from its leagues.", "P03")
  .argument("<player>", "id of the player, e.g. P03")
  .action(async (player: string, options) =>
    exitWith((await import("./commands/operator.ts")).removePlayer(player, options)),
  );

operatorCommand("reset-token", "Print a new token for a player that has lost its token.", "P03")
  .argument("<player>", "id of the player, e.g. P03")
  .action(async (player: string, options) =>
    exitWith((await import("./commands/operator.ts")).resetToken(player, options)),
  );

subcommand("join", "Join a league with one player.", [
  "npm run league -- join random --name Ann",
  "npm run league -- join ./my-bot.ts --name Ann --manager http://192.168.1.7:8000/mcp",
  "npm run league -- join uci:stockfish --name Fish --league chess",
  "npm run league -- join 'lines:python3 bot.py' --name Ann",
  "npm run league -- join manual --name Ann       # moves come through the tool make_move",
])
  .argument("<bot>", "a built-in bot, a .ts or .js file, uci:COMMAND, lines:COMMAND, or manual")
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option(
    "--name <name>",
    "display name in the league (default: bot and port, with the address if the manager is on another machine)",
    nameOption,
  )
  .option("--port <port>", portHelp("player"), portOption)
  .option("--league <id...>", "leagues to enter (default: every open league of its games)")
  .option("--join-code <word>", "the join code of the league (default: none)", joinCodeOption)
  .option("--data <folder>", "folder of the log and the token", DATA_FOLDER)
  .action(async (bot: string, options) => (await import("./commands/join.ts")).join(bot, options));

subcommand("play", "Play one match between two bots and print its moves and its result.", [
  "npm run league -- play greedy counter --game chess",
  "npm run league -- play ./my-bot.ts random --game rps --option best_of=5 --seed 7",
])
  .argument("<first>", "bot of the game's first role: a built-in bot, a file, uci:COMMAND or lines:COMMAND")
  .argument("<second>", "bot of the game's second role")
  .addOption(
    new Option(
      "--game <game>",
      "id of the game, e.g. chess.v1, or its name without the version, e.g. chess (required)",
    ).makeOptionMandatory(),
  )
  .option("--option <name=value...>", "options of the game, e.g. best_of=5 (default: those of the game)")
  .option("--seed <seed>", "make the match repeatable (default: a random seed)")
  .option("--json", "print one JSON document on stdout")
  .action(async (first: string, second: string, options) =>
    exitWith((await import("./commands/play.ts")).play(first, second, options)),
  );

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

subcommand("export", "Write the logs and seeds of a league into a folder that anyone can verify.", [
  "npm run league -- export                       # the newest run, into league-export",
  "npm run league -- export --out results --sign league.key",
])
  .argument("[folder]", "folder of a run, or a data folder to export its newest run", DATA_FOLDER)
  .addOption(new Option("--format <format>", "format of the export").choices(["json"]).default("json"))
  .option("--out <folder>", "folder to write", "league-export")
  .option("--sign <keyfile>", "sign the export with this Ed25519 private key in PEM format (default: not signed)")
  .action(async (folder: string, options) =>
    exitWith((await import("./commands/export.ts")).exportRun(folder, options)),
  );

subcommand("verify", "Check an export: replay every match and recompute the standings.", [
  "npm run league -- verify league-export",
  "npm run league -- verify league-export --key league.pub",
])
  .argument("<folder>", "folder of an export")
  .option("--key <keyfile>", "require a signature with this Ed25519 key in PEM format (default: no key is required)")
  .option("--json", "print one JSON document on stdout")
  .action(async (folder: string, options) => exitWith((await import("./commands/export.ts")).verify(folder, options)));

subcommand("mcp", "Serve MCP on stdin and stdout, for hosts that start a command.", [
  "npm run --silent league -- mcp                                     # host games",
  "npm run --silent league -- mcp --url http://127.0.0.1:8001/mcp     # forward to a running server",
])
  .addOption(
    new Option("--url <url>", "endpoint of a referee or league manager to forward to (default: host games)")
      .argParser(endpointOption)
      .conflicts(["port", "data"]),
  )
  .option(
    "--port <port>",
    `port of the pages and of HTTP clients (default: the first free one of ${PORT_RANGES.referee.join("-")})`,
    portOption,
  )
  .option("--data <folder>", "folder of games and logs", MCP_DATA)
  .action(async (options) => (await import("./commands/mcp.ts")).mcp(options));

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
  return thrown instanceof StartError ? thrown.exitCode : EXIT.failed;
}

if (process.argv.length <= 2) {
  program.outputHelp();
  process.exit(EXIT.usage);
}
await program.parseAsync();
