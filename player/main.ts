import { resolve } from "node:path";
import { Command, Option } from "commander";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import {
  allowedOriginOption,
  contactOption,
  countOption,
  endpointOption,
  gameFilesOption,
  inspectAddress,
  inspectOption,
  inspectPortOption,
  joinCodeOption,
  nameOption,
  type PermissionFlags,
  permissionsOf,
  portOption,
  verboseOption,
  withExamples,
  withPermissionOptions,
  withUsageExit,
} from "#shared/runtime/command-options.ts";
import { DATA_FOLDER, defaultOf, MANAGER_ENDPOINT, portHelp } from "#shared/runtime/defaults.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { LLM_FORMS } from "./llm/llm-bot.ts";
import { BOT_FILES } from "./loaders/bot-files.ts";
import { PlayerOptions } from "./options.ts";
import { startPlayer } from "./service.ts";

const { bot, registerTimeoutMs } = PlayerOptions.shape;
const command = withUsageExit(new Command("player"))
  .description("Runs one player: its bot answers the move requests of referees at POST /mcp.")
  .option(
    "--bot <bot>",
    `a built-in bot, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, ${LLM_FORMS}, or manual`,
    defaultOf(bot),
  )
  .option(
    "--name <name>",
    "display name in the league (default: bot and port, with the address if the manager is on another machine)",
    nameOption,
  )
  .option("--port <port>", portHelp("player"), portOption)
  .option(
    "--host <host>",
    "address to listen on (default: 127.0.0.1; every address if the manager is on another machine)",
  )
  .option(
    "--endpoint <url>",
    "the URL at which other agents reach this agent (default: the address by which it reaches the manager)",
    contactOption,
  )
  .addOption(
    new Option(
      "--pull",
      "poll an inbox at the manager instead of being called, for a player behind a router",
    ).conflicts(["endpoint", "secretFile"]),
  )
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option("--no-manager", "do not register; the league lists this player in its config")
  .option(
    "--secret-file <file>",
    "with --no-manager: file of the secret that is also in the league's config; created if it is missing",
  )
  .option("--league <id...>", "leagues to enter (default: every open league of its games)")
  .option("--join-code <word>", "the join code of the league (default: none)", joinCodeOption)
  .option(
    "--register-ms <ms>",
    "time limit for one attempt to register, milliseconds",
    countOption,
    defaultOf(registerTimeoutMs),
  )
  .addOption(gameFilesOption())
  .addOption(inspectOption("the time limits of the league remain"))
  .addOption(inspectPortOption())
  .addOption(verboseOption())
  .addOption(allowedOriginOption())
  .option("--limit-loopback", "also apply the rate limits to callers on this machine")
  .option("--data <folder>", "folder of the logs and the token", DATA_FOLDER);
withExamples(withPermissionOptions(command), [
  "npm run player -- --bot greedy --name Ann",
  "npm run player -- --bot ./my-bot.ts --name Ann --manager http://192.168.1.7:8000/mcp",
  "npm run player -- --bot ./my-bot.ts --no-manager --secret-file ann.secret --port 8150",
]).parse();

const options = command.opts<
  {
    bot: string;
    name?: string;
    port?: number;
    host?: string;
    endpoint?: string;
    pull?: boolean;
    joinCode?: string;
    manager: string | false;
    secretFile?: string;
    league?: string[];
    registerMs: number;
    game: string[];
    allowedOrigin: readonly string[];
    limitLoopback?: boolean;
    verbose?: boolean;
    inspect?: boolean;
    inspectPort: number;
    data: string;
  } & PermissionFlags
>();

if (options.secretFile !== undefined && options.manager !== false) {
  command.error("error: --secret-file requires --no-manager: a player that registers itself has a token");
}
if (options.pull && options.manager === false) {
  command.error("error: --pull requires a manager: the player registers itself and polls its inbox there");
}

await runAgentProcess(options.name ?? `player-${options.port ?? process.pid}`, resolve(options.data), async (self) => {
  await loadGames(options.game);
  return startPlayer(
    {
      bot: options.bot,
      name: options.name,
      host: options.host,
      endpoint: options.endpoint,
      pull: options.pull,
      joinCode: options.joinCode,
      ports: options.port === undefined ? undefined : [options.port],
      manager: options.manager === false ? null : options.manager,
      secretFile: options.secretFile === undefined ? undefined : resolve(options.secretFile),
      leagueIds: options.league,
      registerTimeoutMs: options.registerMs,
      allowedOrigins: options.allowedOrigin,
      limitLoopback: options.limitLoopback,
      verbose: options.verbose,
      inspect: inspectAddress(options),
      allow: permissionsOf(options),
      dataFolder: resolve(options.data),
    },
    self,
  );
});
