import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { isWildcard } from "#shared/rpc/http/machine-addresses.ts";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import {
  allowedOriginOption,
  botOption,
  contactOption,
  countOption,
  endpointOption,
  gameFilesOption,
  joinCodeOption,
  nameOption,
  portOption,
  withExamples,
  withUsageExit,
} from "#shared/runtime/command-options.ts";
import { DATA_FOLDER, defaultOf, MANAGER_ENDPOINT, portHelp } from "#shared/runtime/defaults.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { qrCode } from "#shared/runtime/qr-code.ts";
import { ServiceOptions } from "./options.ts";
import { engineFault } from "./play/engines.ts";
import { startReferee } from "./service.ts";

const { expireAfterMs, maxConcurrentMatches, registerTimeoutMs, reportTimeoutMs } = ServiceOptions.shape;
/** `npm run host` runs this file with --alone. Its help has no options of a referee with a manager. */
const isHost = process.argv.includes("--alone");
/** package.json names the port of `npm run host`. */
const HOST_PORT = "port to listen on (default: 8001)";
const OF_LEAGUES = ["--manager", "--alone", "--name", "--max-matches", "--join-code", "--register-ms", "--report-ms"];
const command = withUsageExit(new Command(isHost ? "npm run host --" : "referee"))
  .description(
    isHost
      ? "Runs a session host: games in the browser and over the API, against bots, engines and other people, without a league."
      : "Runs one referee, which asks the players of its matches for their moves.",
  )
  .option("--port <port>", isHost ? HOST_PORT : portHelp("referee"), portOption)
  .option(
    "--host <host>",
    `address to listen on (default: 127.0.0.1${isHost ? "" : "; every address if the manager is on another machine"})`,
  )
  .option(
    "--name <name>",
    "display name in the league (default: Referee and port, with the address if the manager is on another machine)",
    nameOption,
  )
  .option(
    "--endpoint <url>",
    `the URL at which other agents reach this agent (default: the address ${isHost ? "at which it listens" : "by which it reaches the manager"})`,
    contactOption,
  )
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option("--alone", "run without a manager, as a session host")
  .option(
    "--expire-s <s>",
    "time without an action after which a session over REST ends, seconds",
    countOption,
    defaultOf(expireAfterMs) / 1000,
  )
  .option(
    "--max-matches <n>",
    "maximum number of matches at the same time",
    countOption,
    defaultOf(maxConcurrentMatches),
  )
  .option("--join-code <word>", "the join code of the league (default: none)", joinCodeOption)
  .option(
    "--register-ms <ms>",
    "time limit for one attempt to register, milliseconds",
    countOption,
    defaultOf(registerTimeoutMs),
  )
  .option(
    "--report-ms <ms>",
    "time limit for one report of a result, milliseconds",
    countOption,
    defaultOf(reportTimeoutMs),
  )
  .addOption(
    new Option("--bot <name=url...>", "running players that can be chosen as opponents")
      .argParser(botOption)
      .default(new Map(), "only the built-in bots"),
  )
  .option(
    "--engine <command...>",
    "chess engines (UCI) that can be chosen as opponents, besides those in the PATH",
    (command: string, earlier: readonly string[] = []): readonly string[] => {
      const fault = engineFault(command, process.env.PATH ?? "");
      if (fault !== null) throw new InvalidArgumentError(fault);
      return [...earlier, command];
    },
  )
  .addOption(gameFilesOption())
  .addOption(allowedOriginOption())
  .option("--limit-loopback", "also apply the rate limits to callers on this machine")
  .option("--data <folder>", "folder of the database, the token and the logs", DATA_FOLDER);
for (const option of isHost ? command.options : []) option.hidden = OF_LEAGUES.includes(option.long ?? "");
withExamples(command, [
  ...(isHost
    ? []
    : [
        "npm run referee                                             # the manager is on this machine",
        "npm run referee -- --manager http://192.168.1.7:8000/mcp    # the manager is on another machine",
      ]),
  "npm run host                                                # a session host: --alone --port 8001",
  "npm run host -- --game ./my-game.ts                         # with a game of your own",
]).parse();

const options = command.opts<{
  port?: number;
  host?: string;
  endpoint?: string;
  joinCode?: string;
  name?: string;
  manager: string;
  alone?: boolean;
  expireS: number;
  maxMatches: number;
  registerMs: number;
  reportMs: number;
  bot: Map<string, string>;
  engine?: readonly string[];
  game: string[];
  allowedOrigin: readonly string[];
  limitLoopback?: boolean;
  data: string;
}>();

const role = options.alone ? "host" : "referee";
await runAgentProcess(options.name ?? `${role}-${options.port ?? process.pid}`, resolve(options.data), async (self) => {
  await loadGames(options.game);
  const referee = await startReferee(
    {
      name: options.name,
      host: options.host,
      endpoint: options.endpoint,
      joinCode: options.joinCode,
      ports: options.port === undefined ? undefined : [options.port],
      manager: options.alone ? null : options.manager,
      expireAfterMs: options.expireS * 1000,
      maxConcurrentMatches: options.maxMatches,
      registerTimeoutMs: options.registerMs,
      reportTimeoutMs: options.reportMs,
      bots: options.bot,
      engines: options.engine,
      isAttended: Boolean(options.alone && process.stdin.isTTY && process.stderr.isTTY),
      allowedOrigins: options.allowedOrigin,
      limitLoopback: options.limitLoopback,
      dataFolder: resolve(options.data),
    },
    self,
  );
  // The code contains the URL of the pages, for phones.
  if (options.alone && isWildcard(options.host ?? "")) {
    for (const line of await qrCode(`${referee.pages}/`, process.stderr)) process.stderr.write(`${line}\n`);
  }
  return referee;
});
