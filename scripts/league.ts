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
  withUsageExit,
} from "#shared/runtime/cli/options.ts";
import { DATA_FOLDER, DEFAULT_CONFIG, MANAGER_ENDPOINT, PORT_RANGES, portHelp } from "#shared/runtime/defaults.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { endWithNpm } from "#shared/runtime/process/parent-watchdog.ts";
import { VERSION } from "#shared/runtime/process/version.ts";

/** Beside the project, not where the command was started: an MCP host may start it anywhere. */
const MCP_DATA = fileURLToPath(new URL("../data/mcp", import.meta.url));

// For who starts this file itself, as hosts of `league mcp` do. Each command loads most of what it needs after this.
createRequire(import.meta.url)("../shared/runtime/compile-cache.cjs");

// `league run --json | head` closes our stdout early: that is the reader's right.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const program = withUsageExit(new Command("league"))
  .description("The league for networked game-playing agents.")
  .version(VERSION)
  .addHelpText("after", "\nExit codes: 0 ok, 1 failed, 2 usage, 3 config, 130 interrupted.");

const subcommand = (usage: string, description: string): Command =>
  withUsageExit(program.command(usage)).description(description);

subcommand("run", "Play every league of a config, each agent a process of its own, and print the standings.")
  .argument("[config]", "config file, JSON with comments", DEFAULT_CONFIG)
  .option("--keep", "stay up with the league's page when all is played")
  .option("--json", "print one JSON document on stdout instead of tables")
  .option("--seed <seed>", "make matches and results repeatable")
  .option("--quiet", "no progress")
  .option("--resume", "go on with the newest unfinished run, by its own config and seed")
  .action(async (config: string, options) => exitWith((await import("./commands/run.ts")).run(config, options)));

subcommand("serve", "Manager and referees stay up and take registrations.")
  .argument("[config]", "config file, JSON with comments", DEFAULT_CONFIG)
  .option("--players <n>", "start each league when so many players are registered, at least 2", playersOption)
  .option("--seed <seed>", "make matches and results repeatable")
  .option("--lan", "listen on every address, so that players on other machines can join")
  .option("--join-code <word>", "only players and referees that send this code may register", joinCodeOption)
  .action(async (config: string, options) => exitWith((await import("./commands/serve.ts")).serve(config, options)));

subcommand("join", "Join a league with one player.")
  .argument("<bot>", "a built-in bot, a .ts or .js file, uci:COMMAND, or manual")
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option(
    "--name <name>",
    "display name in the league (default: the bot and its port, and its address if the manager is on another machine)",
    nameOption,
  )
  .option("--port <port>", portHelp("player"), portOption)
  .option("--league <id...>", "leagues to enter (default: every open league of its games)")
  .option("--join-code <word>", "the join code of the league, if it has one", joinCodeOption)
  .option("--data <folder>", "where the log and the token are kept", DATA_FOLDER)
  .action(async (bot: string, options) => (await import("./commands/join.ts")).join(bot, options));

subcommand("play", "Play one match here and print its moves and result.")
  .argument("<first>", "the bot of the game's first role")
  .argument("<second>", "the bot of the game's second role")
  .addOption(new Option("--game <game>", "game id, e.g. chess.v1 or just chess").makeOptionMandatory())
  .option("--option <name=value...>", "a game option, e.g. best_of=5")
  .option("--seed <seed>", "make the match repeatable")
  .option("--json", "print one JSON document on stdout")
  .action(async (first: string, second: string, options) =>
    exitWith((await import("./commands/play.ts")).play(first, second, options)),
  );

const who = (flag: string): Option => new Option(flag, "who plays it").choices(["user", "llm"]);
subcommand("codenames", "Play Codenames here: people at this terminal, an OpenAI-compatible endpoint for the rest.")
  .option("--llm <url>", "base of the endpoint, e.g. http://127.0.0.1:11434/v1")
  .option("--model <name>", "the model that it is asked for")
  .option("--key-env <name>", "environment variable with the endpoint's key (default: OPENAI_API_KEY, if it is set)")
  .option("--timeout-ms <ms>", "how long one answer of the model may take", countOption, 120_000)
  .option("--max-tokens <n>", "room for one answer (default: what the game asks for)", countOption)
  .option("--people <roles>", "roles of people with commas between them, all or none (default: red_team)")
  .addOption(who("--red-spymaster <who>"))
  .addOption(who("--red-team <who>"))
  .addOption(who("--blue-spymaster <who>"))
  .addOption(who("--blue-team <who>"))
  .option("--words <source>", "built-in, llm, or 25 words with commas between them (default: a person is asked)")
  .option("--url <url>", "a referee that runs already (default: one of our own)")
  .option("--data <folder>", "where games are kept", DATA_FOLDER)
  .option("--continue [token]", "go on with a game that was left; without a token the newest")
  .action(async (options) => exitWith((await import("./commands/codenames.ts")).codenames(options)));

subcommand("export", "Write the logs, matches and seeds of a run into a folder that can be checked anywhere.")
  .argument("[folder]", "a run's folder, or a data folder, whose newest run is meant", DATA_FOLDER)
  .addOption(new Option("--format <format>", "how").choices(["json"]).default("json"))
  .option("--out <folder>", "where to", "league-export")
  .option("--sign <keyfile>", "sign it with an Ed25519 private key (PEM)")
  .action(async (folder: string, options) =>
    exitWith((await import("./commands/export.ts")).exportRun(folder, options)),
  );

subcommand("verify", "Check an export: replay every log, check seeds, pairings and results, recompute the standings.")
  .argument("<folder>", "what league export wrote")
  .option("--key <keyfile>", "the Ed25519 key (PEM) that must have signed it")
  .option("--json", "print one JSON document on stdout")
  .action(async (folder: string, options) => exitWith((await import("./commands/export.ts")).verify(folder, options)));

subcommand("mcp", "Serve MCP on stdin and stdout, for hosts that start a command.")
  .addOption(
    new Option("--url <url>", "bridge to this referee or league manager, instead of hosting games")
      .argParser(endpointOption)
      .conflicts(["port", "data"]),
  )
  .option(
    "--port <port>",
    `port of the pages and of HTTP clients (default: the first free one of ${PORT_RANGES.referee.join("-")})`,
    portOption,
  )
  .option("--data <folder>", "where games and logs are kept", MCP_DATA)
  .action(async (options) => (await import("./commands/mcp.ts")).mcp(options));

/** Ends the process with a command's exit code, after its output has been written. */
async function exitWith(command: Promise<number>): Promise<void> {
  endWithNpm();
  process.on("uncaughtException", (thrown) => exitAfterOutput(tellFault(thrown)));
  exitAfterOutput(await command.catch(tellFault));
}

/** A pipe takes 64 KB at once; the rest is lost if the process ends before its reader has taken them. */
function exitAfterOutput(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

/** Tells what ended a command and returns the exit code; only a fault of the program is shown with its stack. */
function tellFault(thrown: unknown): number {
  // A folder that cannot be written, or a file in its place, is no fault of ours.
  const fault = thrown instanceof StartError ? thrown.message : fileFault(thrown);
  process.stderr.write(`${fault ?? (thrown instanceof Error ? thrown.stack : String(thrown))}\n`);
  return thrown instanceof StartError ? thrown.exitCode : EXIT.failed;
}

if (process.argv.length <= 2) {
  program.outputHelp();
  process.exit(EXIT.usage);
}
await program.parseAsync();
