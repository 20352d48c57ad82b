import { resolve } from "node:path";
import { Command } from "commander";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { isWildcard } from "#shared/rpc/own-addresses.ts";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import {
  botOption,
  contactOption,
  countOption,
  endpointOption,
  joinCodeOption,
  nameOption,
  portOption,
  withUsageExit,
} from "#shared/runtime/options.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/ports.ts";
import { qrCode } from "#shared/runtime/qr-code.ts";
import { startReferee } from "./service.ts";

const timeouts = Timeouts.parse({});
const command = withUsageExit(new Command("referee"))
  .description("One referee: plays the matches that the league manager gives it by asking the players for their moves.")
  .option("--port <port>", "port to listen on (default: the first free one of 8001-8099)", portOption)
  .option(
    "--host <host>",
    "address to listen on (default: 127.0.0.1; every address if the manager is on another machine)",
  )
  .option(
    "--name <name>",
    "display name in the league (default: Referee and its port, and its address if the manager is on another machine)",
    nameOption,
  )
  .option(
    "--endpoint <url>",
    "how others reach this agent (default: the address by which it reaches the manager)",
    contactOption,
  )
  .option("--manager <url>", "the league manager's endpoint", endpointOption, "http://127.0.0.1:8000/mcp")
  .option("--alone", "no manager: a session host for agents that play over REST")
  .option("--expire-s <s>", "sessions played over REST end when nobody has acted for so long", countOption, 86_400)
  .option("--max-matches <n>", "matches played at a time", countOption, 64)
  .option("--join-code <word>", "the join code of the league, if it has one", joinCodeOption)
  .option("--register-ms <ms>", "how long one attempt to register may take", countOption, timeouts.referee_register_ms)
  .option("--report-ms <ms>", "how long one report of a result may take", countOption, timeouts.match_result_report_ms)
  .option(
    "--bot <name=url...>",
    "players that may be asked to play here besides the built-in bots",
    botOption,
    new Map(),
  )
  .option("--limit-loopback", "hold callers on this machine to the rate limit too")
  .option("--data <folder>", "where the session log, the token and logs are kept", "data")
  .parse();

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
  limitLoopback?: boolean;
  data: string;
}>();

const role = options.alone ? "host" : "referee";
await runAgentProcess(options.name ?? `${role}-${options.port ?? process.pid}`, resolve(options.data), async (self) => {
  const referee = await startReferee(
    {
      name: options.name ?? null,
      host: options.host ?? null,
      endpoint: options.endpoint ?? null,
      joinCode: options.joinCode ?? null,
      ports: options.port === undefined ? portsFrom(PORT_RANGES.referee) : [options.port],
      manager: options.alone ? null : options.manager,
      expireAfterMs: options.expireS * 1000,
      maxConcurrentMatches: options.maxMatches,
      registerTimeoutMs: options.registerMs,
      reportTimeoutMs: options.reportMs,
      bots: options.bot,
      isAttended: Boolean(options.alone && process.stdin.isTTY && process.stderr.isTTY),
      limitLoopback: options.limitLoopback ?? false,
      dataFolder: resolve(options.data),
    },
    self,
  );
  // People open the page on their phones with it.
  if (options.alone && isWildcard(options.host ?? "")) {
    for (const line of await qrCode(`${referee.pages}/`, process.stderr)) process.stderr.write(`${line}\n`);
  }
  return referee;
});
