import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { builtInBots, playsGame } from "#shared/games/built-in-bots.ts";
import { findGame } from "#shared/games/registry.ts";
import { isWildcard, localUrl } from "#shared/rpc/http/machine-addresses.ts";
import { permissionArgs } from "#shared/runtime/command-options.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { PlayerConfig } from "#shared/runtime/config/players.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import type { AgentSpec, Supervisor } from "#shared/runtime/process/supervisor.ts";
import { UCI_GAMES, uciSpec } from "../../player/engines/uci-bot.ts";
import { LLM_FORMS, llmSpec } from "../../player/llm/llm-bot.ts";
import { BOT_FILES, isBotFile, programIn } from "../../player/loaders/bot-files.ts";
import { linesSpec } from "../../player/loaders/lines.ts";
import type { SeveralPlayers } from "../../player/several.ts";

/** The files of a run and the address of its manager. */
interface RunLocation {
  readonly dataFolder: string;
  /** The file with the config of the run, in its folder. */
  readonly configFile: string;
  readonly managerUrl: string;
  /** The PostgreSQL database of the manager; absent for a file in the folder. */
  readonly database?: string | undefined;
  /** The names of the referees begin with this text; `Referee` by default. */
  readonly refereeNames?: string;
}

/** Returns the manager's endpoint for agents on this machine: on loopback, unless the manager listens on one other address only. */
export const managerUrlOf = ({ manager }: Pick<Config, "manager">): string =>
  `${localUrl(manager.host, manager.port)}/mcp`;

/** Returns the address on which referees and players listen: that of the manager, or loopback if the manager listens on the wildcard address. */
const hostOf = ({ manager }: Config): string => (isWildcard(manager.host) ? LOOPBACK_HOST : manager.host);

function managerSpec(location: RunLocation, extraArgs: readonly string[]): AgentSpec {
  const args = ["--config", location.configFile, "--data", location.dataFolder, ...extraArgs];
  return {
    name: "league manager",
    script: "league-manager/main.ts",
    args,
    reportsEvents: true,
    database: location.database,
  };
}

function refereeSpecs(config: Config, location: RunLocation): readonly AgentSpec[] {
  const { count, firstPort, max_concurrent_matches } = config.referees;
  return Array.from({ length: count }, (_, index) => ({
    name: `referee ${index + 1}`,
    script: "referee/main.ts",
    args: [
      "--port",
      String(firstPort + index),
      "--name",
      `${location.refereeNames ?? "Referee"} ${index + 1}`,
      "--host",
      hostOf(config),
      "--manager",
      location.managerUrl,
      ...(config.manager.join_code === undefined ? [] : ["--join-code", config.manager.join_code]),
      "--max-matches",
      String(max_concurrent_matches),
      "--data",
      location.dataFolder,
      "--register-ms",
      String(config.timeouts.referee_register_ms),
      "--report-ms",
      String(config.timeouts.match_result_report_ms),
      ...config.games.flatMap((file) => ["--game", file]),
      ...config.allowed_origins.flatMap((origin) => ["--allowed-origin", origin]),
      ...(config.limits.loopback ? ["--limit-loopback"] : []),
    ],
  }));
}

/**
 * Starts the agents of a league. The other agents wait until the manager listens. Because only one process can listen on its port, a second league with
 * the same config fails at its start.
 */
export function startAgents(
  supervisor: Supervisor,
  config: Config,
  location: RunLocation,
  managerArgs: readonly string[],
  processOf: (player: string) => PlayerProcess = () => ({ args: [], isDebugged: false }),
): { readonly manager: Promise<string>; readonly others: readonly Promise<string>[] } {
  const manager = supervisor.start(managerSpec(location, managerArgs));
  const place = { ...location, host: hostOf(config) };
  const others = [...refereeSpecs(config, location), ...playerSpecs(config, place, processOf)];
  return { manager, others: others.map((spec) => supervisor.start(spec, manager)) };
}

/** Makes the paths of a config absolute, so that it can be written to another folder. */
export function withAbsolutePaths(config: Config, folder: string): Config {
  const players = config.players.map((player) => {
    if ("bot" in player) return withAbsoluteBot(player, folder);
    if ("uci" in player) return { ...player, uci: { ...player.uci, folder: resolve(folder, player.uci.folder) } };
    return "command" in player ? { ...player, folder: resolve(folder, player.folder) } : player;
  });
  return { ...config, data: resolve(folder, config.data), players };
}

function withAbsoluteBot(player: Extract<PlayerConfig, { readonly bot: string }>, folder: string): typeof player {
  const { bot, allow } = player;
  const absolute = isBotFile(bot) ? { ...player, bot: resolve(folder, bot) } : player;
  if (allow === undefined) return absolute;
  const inFolder = (paths: readonly string[]): readonly string[] => paths.map((path) => resolve(folder, path));
  return { ...absolute, allow: { ...allow, read: inFolder(allow.read), write: inFolder(allow.write) } };
}

const isBot = (bot: string): boolean =>
  /^(uci|lines|llm):/.test(bot) || builtInBots.includes(bot) || (isBotFile(bot) && existsSync(programIn(bot).program));

/** Returns whether a bot plays a game, as far as its name tells; true for a player without a bot. */
const canPlay = (bot: string | null, game: string): boolean =>
  bot === null || (bot.startsWith("uci:") ? UCI_GAMES.some((uciGame) => uciGame === game) : playsGame(bot, game));

interface ConfigFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Returns a fault if the limits of a league do not fit the players of the config. A league that waits for more players would never start. With room for
 * fewer players, the order of their registrations would decide who plays.
 */
function faultOfLimits({ leagues, players }: Config): ConfigFault | null {
  for (const [index, { league_id, game, min_players, max_players }] of leagues.entries()) {
    const ableCount = players.filter((player) => canPlay(botOf(player), game)).length;
    const has = `league ${league_id} has ${ableCount} of the players in this config`;
    const roleCount = findGame(game)?.roles.length ?? 2;
    if (min_players !== undefined && min_players > ableCount)
      return { path: ["leagues", index, "min_players"], message: `${has}, but waits for ${min_players}` };
    if (ableCount < roleCount)
      return { path: ["leagues", index, "game"], message: `${has}, but a match of ${game} needs ${roleCount}` };
    if (max_players !== undefined && max_players < ableCount)
      return { path: ["leagues", index, "max_players"], message: `${has}, but room for only ${max_players}` };
  }
  return null;
}

/** Returns the first fault of a config with absolute paths, from a file in `folder`, that prevents a run, with its path in the config; null if there is none. */
export function faultOfRun(config: Config, folder: string): ConfigFault | null {
  if (config.referees.count === 0) return { path: ["referees", "count"], message: "a run needs at least 1 referee" };
  if (config.players.length < 2) return { path: ["players"], message: "a run needs at least 2 players" };
  for (const [index, player] of config.players.entries()) {
    const [variable] = keyVariablesOf(player);
    if (variable !== undefined && !process.env[variable]) {
      return { path: ["players", index, "llm", "api_key_env"], message: `${variable} is not set in the environment` };
    }
    if (!("bot" in player) || isBot(player.bot)) continue;
    const path = ["players", index, "bot"];
    if (isBotFile(player.bot)) {
      const file = relative(folder, player.bot);
      return { path, message: `no such file: ${file}. The path is relative to the folder of the config, ${folder}` };
    }
    const message = `no bot "${player.bot}": use ${builtInBots.join(", ")}, ${BOT_FILES}, uci:COMMAND, lines:COMMAND, ${LLM_FORMS}`;
    return { path, message };
  }
  const limitFault = faultOfLimits(config);
  if (limitFault) return limitFault;
  const ports = [
    { port: config.manager.port, path: ["manager", "port"] },
    ...Array.from({ length: config.referees.count }, (_, index) => ({
      port: config.referees.firstPort + index,
      path: ["referees", "firstPort"],
    })),
    ...config.players.flatMap((player, index) =>
      botOf(player) === null ? [] : [{ port: config.playersFirstPort + index, path: ["playersFirstPort"] }],
    ),
  ];
  for (const [index, { port, path }] of ports.entries()) {
    if (port > 65_535) return { path, message: `leads to port ${port}, but the highest port is 65535` };
    const duplicate = ports.slice(index + 1).find((later) => later.port === port);
    if (duplicate)
      return { path, message: `port ${port} is assigned to two agents; see also ${duplicate.path.join(".")}` };
  }
  return null;
}

/** Options of the process of a player that are not in the config. */
export interface PlayerProcess {
  readonly args: readonly string[];
  readonly isDebugged: boolean;
  /** Whether the run continues if the player cannot be kept running (default: true). */
  readonly isExpendable?: boolean;
}

/** Where the players of a run listen and register, and their folder. */
interface PlayerPlace {
  readonly host: string;
  readonly managerUrl: string;
  readonly dataFolder: string;
}

/** A player that the run starts, with its bot and its port. */
interface StartedPlayer {
  readonly player: PlayerConfig;
  readonly bot: string;
  readonly port: number;
  readonly extra: PlayerProcess;
}

/**
 * Returns the processes of the players that a run starts: those with a bot or an engine. The port of the nth player of the config is `playersFirstPort`
 * plus n - 1. With `players_per_process`, successive players with built-in bots share a process.
 */
export function playerSpecs(
  config: Config,
  place: PlayerPlace,
  processOf: (name: string) => PlayerProcess,
): readonly AgentSpec[] {
  const started = config.players.flatMap((player, index): StartedPlayer[] => {
    const bot = botOf(player);
    if (bot === null) return [];
    return [{ player, bot, port: config.playersFirstPort + index, extra: processOf(player.name) }];
  });
  const sharing = started.filter(canShare);
  const size = config.players_per_process;
  const groups = Array.from({ length: Math.ceil(sharing.length / size) }, (_, index) =>
    sharing.slice(index * size, (index + 1) * size),
  );
  const shared = groups.filter(({ length }) => length > 1);
  const together = new Set(shared.flat());
  const alone = started.filter((player) => !together.has(player));
  return [
    ...shared.map((players) => sharedSpec(config, place, players)),
    ...alone.map((player) => ownSpec(config, place, player)),
  ];
}

/** Whether a player may share its process: code of users and engines cannot be trusted with the secrets of other players. */
const canShare = ({ player, extra }: StartedPlayer): boolean =>
  "bot" in player && builtInBots.includes(player.bot) && !extra.isDebugged && extra.args.length === 0;

function ownSpec(config: Config, place: PlayerPlace, { player, bot, port, extra }: StartedPlayer): AgentSpec {
  const { join_code } = config.manager;
  const args = [
    "--bot",
    bot,
    "--name",
    player.name,
    "--port",
    String(port),
    "--host",
    place.host,
    "--manager",
    place.managerUrl,
    "--data",
    place.dataFolder,
    ...(join_code === undefined ? [] : ["--join-code", join_code]),
    "--register-ms",
    String(config.timeouts.league_register_ms),
    ...config.games.flatMap((file) => ["--game", file]),
    ...("bot" in player && player.allow !== undefined ? permissionArgs(player.allow) : []),
    ...config.allowed_origins.flatMap((origin) => ["--allowed-origin", origin]),
    ...(config.limits.loopback ? ["--limit-loopback"] : []),
    ...extra.args,
  ];
  const own = keyVariablesOf(player);
  return {
    name: player.name,
    script: "player/main.ts",
    args,
    isDebugged: extra.isDebugged,
    isExpendable: extra.isExpendable ?? true,
    withheld: config.players.flatMap(keyVariablesOf).filter((variable) => !own.includes(variable)),
  };
}

function sharedSpec(config: Config, place: PlayerPlace, players: readonly StartedPlayer[]): AgentSpec {
  const names = players.map(({ player }) => player.name);
  const name = `players ${names[0]} to ${names.at(-1)}`;
  const several: SeveralPlayers = {
    name,
    data: place.dataFolder,
    games: config.games,
    players: players.map(({ player, bot, port }) => ({
      name: player.name,
      bot,
      ports: [port],
      host: place.host,
      manager: place.managerUrl,
      joinCode: config.manager.join_code ?? null,
      registerTimeoutMs: config.timeouts.league_register_ms,
      allowedOrigins: config.allowed_origins,
      limitLoopback: config.limits.loopback,
      dataFolder: place.dataFolder,
    })),
  };
  return {
    name,
    script: "player/several.ts",
    args: [JSON.stringify(several)],
    isExpendable: true,
    withheld: config.players.flatMap(keyVariablesOf),
  };
}

/** Returns the variable with the API key of a player, if its settings name one. */
const keyVariablesOf = (player: PlayerConfig): readonly string[] =>
  "llm" in player && player.llm.api_key_env !== undefined ? [player.llm.api_key_env] : [];

/** Returns the bot of a player as an option of its process; null for a player that the run does not start. */
function botOf(player: PlayerConfig): string | null {
  if ("bot" in player) return player.bot;
  if ("command" in player) return linesSpec(player.command, player.folder, player.start_ms, player.matches);
  if ("llm" in player) return llmSpec(player.llm);
  if ("uci" in player) return uciSpec(player.uci);
  return null;
}
