import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findGame } from "#shared/games/registry.ts";
import { isWildcard, localUrl } from "#shared/rpc/http/machine-addresses.ts";
import type { Config, PlayerConfig } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import type { AgentSpec, Supervisor } from "#shared/runtime/process/supervisor.ts";
import { UCI_GAMES } from "../../player/bots/uci.ts";
import { linesSpec } from "../../player/loaders/lines.ts";
import { builtInBots, isBotFile } from "../../player/loaders/load-bot.ts";

/** Where the agents of one run live: its own folder, its config as it was read, and the manager to be called. */
interface RunPlace {
  readonly dataFolder: string;
  /** The config as the run uses it, written into its folder. */
  readonly configFile: string;
  readonly managerUrl: string;
}

/** How the agents on this machine reach the manager: by loopback, unless the manager listens on one other address only. */
export const managerUrlOf = ({ manager }: Config): string => `${localUrl(manager.host, manager.port)}/mcp`;

/** The options by which every agent reaches the manager and is reached. It listens on the manager's address, or on loopback if that is a wildcard. */
function networkArgs({ manager }: Config, managerUrl: string): readonly string[] {
  const host = isWildcard(manager.host) ? LOOPBACK_HOST : manager.host;
  const code = manager.join_code === undefined ? [] : ["--join-code", manager.join_code];
  return ["--host", host, "--manager", managerUrl, ...code];
}

function managerSpec(place: RunPlace, extra: readonly string[]): AgentSpec {
  const args = ["--config", place.configFile, "--data", place.dataFolder, ...extra];
  return { name: "league manager", script: "league-manager/main.ts", args, reportsEvents: true };
}

function refereeSpecs(config: Config, place: RunPlace): readonly AgentSpec[] {
  const { count, firstPort, max_concurrent_matches } = config.referees;
  return Array.from({ length: count }, (_, index) => ({
    name: `referee ${index + 1}`,
    script: "referee/main.ts",
    args: [
      ...["--port", String(firstPort + index), "--name", `Referee ${index + 1}`],
      ...networkArgs(config, place.managerUrl),
      ...["--max-matches", String(max_concurrent_matches), "--data", place.dataFolder],
      ...["--register-ms", String(config.timeouts.referee_register_ms)],
      ...["--report-ms", String(config.timeouts.match_result_report_ms)],
      ...(config.limits.loopback ? ["--limit-loopback"] : []),
    ],
  }));
}

/** The players that a run starts itself: those with a bot or an engine. The nth player's port is the first plus n - 1. */
function playerSpecs(config: Config, place: RunPlace): readonly AgentSpec[] {
  return config.players.flatMap((player, index) => {
    const bot = botOf(player);
    if (bot === null) return [];
    const port = String(config.playersFirstPort + index);
    const registerMs = String(config.timeouts.league_register_ms);
    const args = [
      "--bot",
      bot,
      "--name",
      player.name,
      "--port",
      port,
      ...networkArgs(config, place.managerUrl),
      "--data",
      place.dataFolder,
      "--register-ms",
      registerMs,
      ...(config.limits.loopback ? ["--limit-loopback"] : []),
    ];
    return [{ name: player.name, script: "player/main.ts", args, isExpendable: true }];
  });
}

function botOf(player: PlayerConfig): string | null {
  if ("bot" in player) return player.bot;
  if ("command" in player) return linesSpec(player.command, player.folder);
  if ("uci" in player) return `uci:${player.uci.command}#nodes=${player.uci.nodes}`;
  return null;
}

/** Starts a league's agents, which wait with what they do for the manager to listen: its port is what keeps a second league out. */
export function startAgents(
  supervisor: Supervisor,
  config: Config,
  place: RunPlace,
  managerArgs: readonly string[],
): { readonly manager: Promise<string>; readonly others: readonly Promise<string>[] } {
  const manager = supervisor.start(managerSpec(place, managerArgs));
  const others = [...refereeSpecs(config, place), ...playerSpecs(config, place)];
  return { manager, others: others.map((spec) => supervisor.start(spec, manager)) };
}

/** Paths of a config made absolute, so that it can be written elsewhere. */
export function withAbsolutePaths(config: Config, folder: string): Config {
  const players = config.players.map((player) => {
    if ("bot" in player && isBotFile(player.bot)) return { ...player, bot: resolve(folder, player.bot) };
    return "command" in player ? { ...player, folder: resolve(folder, player.folder) } : player;
  });
  return { ...config, data: resolve(folder, config.data), players };
}

const isBot = (bot: string): boolean =>
  /^(uci|lines):/.test(bot) || builtInBots.includes(bot) || (isBotFile(bot) && existsSync(bot));

interface ConfigFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** In a run the roster counts: a league that waits for more players would never start, and one with room for fewer would have them race for it. */
function faultOfNumbers({ leagues, players }: Config): ConfigFault | null {
  for (const [index, { league_id, game, min_players, max_players }] of leagues.entries()) {
    const able = players.filter(
      (player) => !botOf(player)?.startsWith("uci:") || UCI_GAMES.some((one) => one === game),
    ).length;
    const has = `league ${league_id} has ${able} of the players in this config`;
    const seats = findGame(game)?.roles.length ?? 2;
    if (players.length < seats)
      return { path: ["leagues", index, "game"], message: `${has}, and a match of ${game} needs ${seats}` };
    if (min_players !== undefined && min_players > able)
      return { path: ["leagues", index, "min_players"], message: `${has}, and would wait for ${min_players} for ever` };
    if (max_players !== undefined && max_players < able)
      return { path: ["leagues", index, "max_players"], message: `${has}, and room for ${max_players}` };
  }
  return null;
}

/** Whether the config, its paths absolute, can be played by a run of its own, or what is wrong at which path. */
export function faultOfRun(config: Config): ConfigFault | null {
  if (config.players.length < 2) return { path: ["players"], message: "a run needs at least 2" };
  for (const [index, player] of config.players.entries()) {
    if (!("bot" in player) || isBot(player.bot)) continue;
    const message = `no bot "${player.bot}": give ${builtInBots.join(", ")}, an existing .ts or .js file, uci:COMMAND or lines:COMMAND`;
    return { path: ["players", index, "bot"], message };
  }
  const misfit = faultOfNumbers(config);
  if (misfit) return misfit;
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
    if (port > 65_535) return { path, message: `leads to port ${port}, and the last one is 65535` };
    const other = ports.slice(index + 1).find((one) => one.port === port);
    if (other) return { path, message: `port ${port} is given to two agents; see also ${other.path.join(".")}` };
  }
  return null;
}
