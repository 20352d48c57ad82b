import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, escapeUnprintable } from "#shared/lib/text.ts";
import { parseTimeControl, type TimeControl } from "#shared/lib/time-control.ts";
import { isWebOrigin, isWithoutScheme, parseEndpoint } from "#shared/protocol/addresses.ts";
import { DisplayName, JOIN_CODE_RULE, JoinCode, LEAGUE_ID_RULE, LeagueId } from "#shared/protocol/message-fields.ts";
import { BotPermissions } from "./bot-permissions.ts";
import { INSPECTOR_PORT, LOOPBACK_HOST } from "./defaults.ts";
import { EXIT } from "./process/exit.ts";
import { asEntered } from "./program.ts";

const MAX_SHOWN = 60;

/** Makes a command exit with code 2 (`EXIT.usage`) if its arguments are invalid. */
export function withUsageExit(command: Command): Command {
  const withHelp = command.showHelpAfterError("(use --help to list the options)");
  withHelp.configureOutput({
    outputError(message, write) {
      const taken = takenByNpm(command, process.env);
      write(`${withEscapedValue(message)}${taken === null ? "" : `${taken}\n`}`);
    },
  });
  return withHelp.exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage));
}

/** Adds examples to the end of a command's help. */
export const withExamples = (command: Command, examples: readonly string[]): Command =>
  command.addHelpText("after", ["", "Examples:", ...examples.map((example) => `  ${asEntered(example)}`)].join("\n"));

/** Escapes and shortens the rejected value in an error message of commander, which repeats the value as typed. */
const withEscapedValue = (message: string): string =>
  message.replace(/(?<= argument ').*(?=' is invalid\.)/s, (value) => escapeUnprintable(cutTo(MAX_SHOWN, value)));

/** Creates the option `--game` of a process that runs or shows the games of files. Its value is a list. */
export const gameFilesOption = (): Option =>
  new Option("--game <file>", "the .ts or .js file of a game that is not built in; may be given several times")
    .argParser((file: string, files: readonly string[]) => [...files, file])
    .default([], "only the built-in games");

/**
 * Creates the option `--database`. Commands check its value, because commander repeats an invalid value, and the URL may
 * contain a password.
 */
export const databaseOption = (): Option =>
  new Option(
    "--database <url>",
    "PostgreSQL database, postgres://USER:PASSWORD@HOST:PORT/DATABASE; a password in DATABASE_URL is not shown by ps",
  ).env("DATABASE_URL");

/** The origins of other sites whose pages may call an agent. */
export const allowedOriginOption = (): Option =>
  new Option(
    "--allowed-origin <origin...>",
    "other sites whose pages may call /mcp in a browser, e.g. https://app.example",
  )
    .argParser((text: string, earlier: readonly string[]) => {
      if (isWebOrigin(text)) return [...earlier, text];
      throw new InvalidArgumentError("give an origin without a path, such as https://app.example.");
    })
    .default([], "none");

/** Parses the address of a server, `http://HOST:PORT`. */
export function originOption(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "http:" && /^\/?$/.test(url.pathname) && url.username === "") return url.origin;
  throw new InvalidArgumentError("give an address such as http://10.0.0.5:8000.");
}

/** Parses a port of a command line; 0 lets the system choose. */
export function portOption(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError("a port is a number from 0 to 65535.");
  return port;
}

/** Parses a whole number of at least 1. */
export function countOption(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError("give a whole number of at least 1.");
  return count;
}

/** Parses the clocks of matches. */
function clockOption(text: string): TimeControl {
  const clock = parseTimeControl(text);
  if (clock === null) throw new InvalidArgumentError("give seconds for all moves and for each move, e.g. 60+1.");
  return clock;
}

/** Creates the option `--clock` of a command that plays matches. */
export const clockFlag = (fallback: string): Option =>
  new Option(
    "--clock <time+increment>",
    `clocks of the matches in seconds, e.g. 60+1: each player has 60 s and gains 1 s with each move (default: ${fallback})`,
  ).argParser(clockOption);

/** Creates the option `--move-ms` of a command that plays matches. */
export const moveMsFlag = (): Option =>
  new Option(
    "--move-ms <ms>",
    "time limit for a move, milliseconds (default: 30000; with --clock only the clock)",
  ).argParser(countOption);

/** Parses the id of a new league. */
export function newLeagueOption(text: string): string {
  if (LeagueId.safeParse(text).success) return text;
  throw new InvalidArgumentError(`${LEAGUE_ID_RULE}, at most 100 characters.`);
}

/** Parses the number of players of a league. */
export function playersOption(text: string): number {
  const count = countOption(text);
  if (count < 2) throw new InvalidArgumentError("a league needs two players.");
  return count;
}

/** Parses a number of referees, which may be 0. */
export function refereesOption(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > 99)
    throw new InvalidArgumentError("a number of referees is from 0 to 99.");
  return count;
}

/** Parses the name of an agent. */
export function nameOption(text: string): string {
  const name = DisplayName.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(`a name ${messageOf(name.error)}.`);
  return name.data;
}

/** Parses a join code. */
export function joinCodeOption(text: string): string {
  const code = JoinCode.safeParse(text);
  if (!code.success) throw new InvalidArgumentError(`${JOIN_CODE_RULE}.`);
  return code.data;
}

/** Parses the endpoint of an agent. Adds the path `/mcp` if it has none. */
export function endpointOption(text: string): string {
  const url = expectEndpoint(text);
  if (url.pathname === "/") url.pathname = "/mcp";
  return url.href;
}

/** Parses the endpoint at which others reach this agent. Returns it unchanged, because a proxy may forward any path. */
export function contactOption(text: string): string {
  expectEndpoint(text);
  return text;
}

/**
 * Parses `NAME=URL`, e.g. `fish=http://127.0.0.1:8150/mcp`, and adds it to `known`. The names agent and human are
 * reserved for opponents of other kinds.
 */
export function botOption(text: string, known: Map<string, string>): Map<string, string> {
  const [, name, url] = /^(?!(?:agent|human)=)([\w-]{1,60})=(https?:\/\/\S+)$/.exec(text) ?? [];
  if (!name || !url)
    throw new InvalidArgumentError("give a name and an endpoint, e.g. fish=http://127.0.0.1:8150/mcp.");
  expectEndpoint(url);
  return known.set(name, url);
}

function expectEndpoint(text: string): URL {
  const url = parseEndpoint(text);
  if (url) return url;
  if (isWithoutScheme(text))
    throw new InvalidArgumentError(`an address begins with http://. Did you mean http://${text}?`);
  throw new InvalidArgumentError("give a URL such as http://127.0.0.1:8000/mcp, without a user and password.");
}

export const verboseOption = (): Option =>
  new Option("--verbose", "print each turn: the view, the number of legal actions, the action and the time");

export const inspectOption = (timeLimits: string): Option =>
  new Option("--inspect", `start the .ts or .js bot when a debugger is connected; ${timeLimits}`);

/** Returns the address of the options `--inspect` and `--inspect-port`; null without `--inspect`. */
export const inspectAddress = (flags: { readonly inspect?: boolean; readonly inspectPort: number }): string | null =>
  flags.inspect ? `${LOOPBACK_HOST}:${flags.inspectPort}` : null;

export const inspectPortOption = (): Option =>
  new Option("--inspect-port <port>", "port for the debugger; a second such bot has the next port")
    .argParser(portOption)
    .default(INSPECTOR_PORT);

/**
 * Returns the line about options of a command that a user has entered before `--`, so that npm has taken them for itself. npm stores them in
 * variables of the environment. Null if there are none.
 */
export function takenByNpm(command: Command, environment: NodeJS.ProcessEnv): string | null {
  const script = environment.npm_lifecycle_event;
  if (script === undefined) return null;
  const options = command.options.flatMap(({ long }) => long ?? []);
  const taken = options.filter((option) => environment[`npm_config_${option.slice(2).replaceAll("-", "_")}`]);
  if (taken.length === 0) return null;
  const run = script === "start" ? "npm start --" : `npm run ${script} --`;
  const example = script === "league" ? `${run} ${command.name()}` : run;
  return `npm has taken ${taken.join(" and ")} for itself. It passes options only after --: ${example} …`;
}

const listed = (flags: string, description: string): Option =>
  new Option(flags, `${description}; may be given several times`)
    .argParser((value: string, values: readonly string[]) => [...values, value])
    .default([], "none");

/** Adds the options that give the bots of a command permissions. */
export function withPermissionOptions(command: Command): Command {
  const memory = new Option("--allow-memory <mb>", "memory that a .ts or .js bot may use, MB");
  const options = [
    new Option("--allow-net", "let a .ts or .js bot use the network"),
    listed("--allow-read <path>", "file or folder that a .ts or .js bot may read"),
    listed("--allow-write <path>", "file or folder that a .ts or .js bot may write and read"),
    listed("--allow-env <name>", "environment variable that a .ts or .js bot gets, such as an API key"),
    memory.argParser(countOption).default(BotPermissions.parse({}).memory_mb),
  ];
  for (const option of options) command.addOption(option);
  return command;
}

/** The values of these options. */
export interface PermissionFlags {
  readonly allowNet?: boolean;
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  readonly allowEnv: readonly string[];
  readonly allowMemory: number;
}

/** Returns the permissions that the options of a command give. Paths are relative to the present folder. */
export const permissionsOf = ({
  allowNet = false,
  allowRead,
  allowWrite,
  allowEnv,
  allowMemory,
}: PermissionFlags): BotPermissions => ({
  net: allowNet,
  read: allowRead.map((path) => resolve(path)),
  write: allowWrite.map((path) => resolve(path)),
  env: allowEnv,
  memory_mb: allowMemory,
});

/** Returns the options that give a command these permissions. */
export const permissionArgs = ({ net, read, write, env, memory_mb }: BotPermissions): readonly string[] => [
  ...(net ? ["--allow-net"] : []),
  ...read.flatMap((path) => ["--allow-read", path]),
  ...write.flatMap((path) => ["--allow-write", path]),
  ...env.flatMap((name) => ["--allow-env", name]),
  "--allow-memory",
  String(memory_mb),
];
