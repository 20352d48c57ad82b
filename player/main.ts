import { resolve } from "node:path";
import { Command } from "commander";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import {
  contactOption,
  countOption,
  endpointOption,
  joinCodeOption,
  nameOption,
  portOption,
  withUsageExit,
} from "#shared/runtime/options.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/ports.ts";
import { startPlayer } from "./service.ts";

const timeouts = Timeouts.parse({});
const command = withUsageExit(new Command("player"))
  .description("One player: answers a referee's move requests at POST /mcp with what its bot chooses.")
  .option("--bot <bot>", "random, another built-in bot, a .ts or .js file, uci:COMMAND, or manual", "random")
  .option(
    "--name <name>",
    "display name in the league (default: the bot and its port, and its address if the manager is on another machine)",
    nameOption,
  )
  .option("--port <port>", "port to listen on (default: the first free one of 8101-8199)", portOption)
  .option(
    "--host <host>",
    "address to listen on (default: 127.0.0.1; every address if the manager is on another machine)",
  )
  .option(
    "--endpoint <url>",
    "how others reach this agent (default: the address by which it reaches the manager)",
    contactOption,
  )
  .option("--manager <url>", "the league manager's endpoint", endpointOption, "http://127.0.0.1:8000/mcp")
  .option("--no-manager", "do not register: somebody else does it for this player")
  .option(
    "--secret-file <file>",
    "with --no-manager: the secret that the league's config also has; created when missing",
  )
  .option("--league <id...>", "leagues to enter (default: every open league of its games)")
  .option("--join-code <word>", "the join code of the league, if it has one", joinCodeOption)
  .option("--register-ms <ms>", "how long one attempt to register may take", countOption, timeouts.league_register_ms)
  .option("--limit-loopback", "hold callers on this machine to the rate limit too")
  .option("--data <folder>", "where logs and the token are kept", "data")
  .parse();

const options = command.opts<{
  bot: string;
  name?: string;
  port?: number;
  host?: string;
  endpoint?: string;
  joinCode?: string;
  manager: string | false;
  secretFile?: string;
  league?: string[];
  registerMs: number;
  limitLoopback?: boolean;
  data: string;
}>();

if (options.secretFile !== undefined && options.manager !== false) {
  command.error("error: --secret-file goes with --no-manager: a player that registers itself has a token");
}

await runAgentProcess(options.name ?? `player-${options.port ?? process.pid}`, resolve(options.data), (self) =>
  startPlayer(
    {
      bot: options.bot,
      name: options.name ?? null,
      host: options.host ?? null,
      endpoint: options.endpoint ?? null,
      joinCode: options.joinCode ?? null,
      ports: options.port === undefined ? portsFrom(PORT_RANGES.player) : [options.port],
      manager: options.manager === false ? null : options.manager,
      secretFile: options.secretFile === undefined ? null : resolve(options.secretFile),
      leagueIds: options.league ?? null,
      registerTimeoutMs: options.registerMs,
      limitLoopback: options.limitLoopback ?? false,
      dataFolder: resolve(options.data),
    },
    self,
  ),
);
