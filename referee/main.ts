import { resolve } from "node:path";
import { Command } from "commander";
import { isWildcard } from "#shared/rpc/http/machine-addresses.ts";
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
} from "#shared/runtime/cli/options.ts";
import { qrCode } from "#shared/runtime/cli/qr-code.ts";
import { DATA_FOLDER, defaultOf, MANAGER_ENDPOINT, portHelp } from "#shared/runtime/defaults.ts";
import { ServiceOptions } from "./options.ts";
import { startReferee } from "./service.ts";

const { expireAfterMs, maxConcurrentMatches, registerTimeoutMs, reportTimeoutMs } = ServiceOptions.shape;
const command = withUsageExit(new Command("referee"))
  .description("One referee: plays the matches that the league manager gives it by asking the players for their moves.")
  .option("--port <port>", portHelp("referee"), portOption)
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
  .option("--manager <url>", "the league manager's endpoint", endpointOption, MANAGER_ENDPOINT)
  .option("--alone", "no manager: a session host for agents that play over REST")
  .option(
    "--expire-s <s>",
    "sessions played over REST end when nobody has acted for so long",
    countOption,
    defaultOf(expireAfterMs) / 1000,
  )
  .option("--max-matches <n>", "matches played at a time", countOption, defaultOf(maxConcurrentMatches))
  .option("--join-code <word>", "the join code of the league, if it has one", joinCodeOption)
  .option("--register-ms <ms>", "how long one attempt to register may take", countOption, defaultOf(registerTimeoutMs))
  .option("--report-ms <ms>", "how long one report of a result may take", countOption, defaultOf(reportTimeoutMs))
  .option(
    "--bot <name=url...>",
    "players that may be asked to play here besides the built-in bots",
    botOption,
    new Map(),
  )
  .option("--limit-loopback", "apply the rate limits also to callers on this machine")
  .option("--data <folder>", "where the session log, the token and logs are kept", DATA_FOLDER)
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
      isAttended: Boolean(options.alone && process.stdin.isTTY && process.stderr.isTTY),
      limitLoopback: options.limitLoopback,
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
