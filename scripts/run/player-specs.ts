import { builtInBots } from "#shared/games/built-in-bots.ts";
import { permissionArgs } from "#shared/runtime/command-options.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { PlayerConfig } from "#shared/runtime/config/players.ts";
import type { AgentSpec } from "#shared/runtime/process/supervisor.ts";
import { uciSpec } from "../../player/engines/uci-spec.ts";
import { linesSpec } from "../../player/loaders/lines.ts";
import { llmSpec } from "../../player/loaders/llm.ts";
import type { SeveralPlayers } from "../../player/several.ts";

/** Options of the process of a player that are not in the config. */
export interface PlayerProcess {
  readonly args: readonly string[];
  readonly isDebugged: boolean;
  /** Whether the run continues if the player cannot be kept running (default: true). */
  readonly isExpendable?: boolean;
}

/** Where the players of a run listen and register, and their folder. */
export interface PlayerPlace {
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
    ...["--bot", bot, "--name", player.name, "--port", String(port)],
    ...["--host", place.host, "--manager", place.managerUrl, "--data", place.dataFolder],
    ...(join_code === undefined ? [] : ["--join-code", join_code]),
    ...["--register-ms", String(config.timeouts.league_register_ms)],
    ...config.games.flatMap((file) => ["--game", file]),
    ...("bot" in player && player.allow !== undefined ? permissionArgs(player.allow) : []),
    ...config.allowed_origins.flatMap((origin) => ["--allowed-origin", origin]),
    ...(config.limits.loopback ? ["--limit-loopback"] : []),
    ...extra.args,
  ];
  const own = keyVariablesOf(player);
  return {
    ...{ name: player.name, script: "player/main.ts", args, isDebugged: extra.isDebugged },
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
      ...{ name: player.name, bot, ports: [port], host: place.host, manager: place.managerUrl },
      joinCode: config.manager.join_code ?? null,
      registerTimeoutMs: config.timeouts.league_register_ms,
      allowedOrigins: config.allowed_origins,
      limitLoopback: config.limits.loopback,
      dataFolder: place.dataFolder,
    })),
  };
  return {
    ...{ name, script: "player/several.ts", args: [JSON.stringify(several)], isExpendable: true },
    withheld: config.players.flatMap(keyVariablesOf),
  };
}

/** Returns the variable with the API key of a player, if its settings name one. */
export const keyVariablesOf = (player: PlayerConfig): readonly string[] =>
  "llm" in player && player.llm.api_key_env !== undefined ? [player.llm.api_key_env] : [];

/** Returns the bot of a player as an option of its process; null for a player that the run does not start. */
export function botOf(player: PlayerConfig): string | null {
  if ("bot" in player) return player.bot;
  if ("command" in player) return linesSpec(player.command, player.folder, player.start_ms, player.matches);
  if ("llm" in player) return llmSpec(player.llm);
  if ("uci" in player) return uciSpec(player.uci);
  return null;
}
