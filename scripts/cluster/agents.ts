import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import type { AgentSpec } from "#shared/runtime/process/supervisor.ts";
import type { SeveralPlayers } from "../../player/several.ts";
import type { PlannedLeague } from "./leagues.ts";

/** The agents of a run and their addresses. */
export interface Agents {
  readonly folder: string;
  readonly seed: string;
  readonly leagues: readonly PlannedLeague[];
  /** The managers with the URLs of their database; null for the embedded one. */
  readonly managers: readonly { readonly port: number; readonly database: string | null }[];
  /** The port at which players and referees reach the managers. */
  readonly frontPort: number;
  readonly refereePorts: readonly number[];
  readonly playerPorts: readonly number[];
}

/** The number of players of a process. */
const PLAYERS_OF_PROCESS = 25;
const MAX_MATCHES = 64;
/** Long enough for players on a busy machine; otherwise they would forfeit their matches. */
const TIMEOUTS = { move_ms: 60_000, join_ms: 60_000 };

export const originOf = (port: number): string => `http://${LOOPBACK_HOST}:${port}`;
const endpointOf = (port: number): string => `${originOf(port)}/mcp`;

export const managerName = (index: number): string => `manager ${index + 1}`;
export const refereeName = (index: number): string => `referee ${index + 1}`;

/** Writes the config of a run. Returns its file. */
export function writeConfig({ folder, leagues, frontPort, refereePorts }: Agents): string {
  const file = join(folder, "config.json");
  mkdirSync(folder, { recursive: true });
  const manager = { endpoint: endpointOf(frontPort) };
  writeFileSync(
    file,
    JSON.stringify({ manager, leagues, timeouts: TIMEOUTS, referees: { count: refereePorts.length } }),
  );
  return file;
}

export const managerSpecs = (agents: Agents, configFile: string): readonly AgentSpec[] =>
  agents.managers.map(({ port, database }, index) => ({
    name: managerName(index),
    script: "league-manager/main.ts",
    args: [
      "--config",
      configFile,
      "--port",
      String(port),
      "--seed",
      sha256Hex(agents.seed),
      "--data",
      join(agents.folder, managerName(index).replace(" ", "-")),
    ],
    reportsEvents: true,
    ...(database !== null && { database }),
  }));

export const refereeSpecs = ({ folder, frontPort, refereePorts }: Agents): readonly AgentSpec[] =>
  refereePorts.map((port, index) => ({
    name: refereeName(index),
    script: "referee/main.ts",
    args: [
      "--port",
      String(port),
      "--name",
      refereeName(index),
      "--max-matches",
      String(MAX_MATCHES),
      "--manager",
      endpointOf(frontPort),
      "--data",
      folder,
    ],
  }));

/** Returns the processes of the players. The first players of a run enter each league. */
export function playerSpecs({ folder, leagues, frontPort, playerPorts }: Agents): readonly AgentSpec[] {
  const players = playerPorts.map((port, index) => ({
    bot: "random",
    name: `player ${index + 1}`,
    host: LOOPBACK_HOST,
    ports: [port],
    manager: endpointOf(frontPort),
    dataFolder: folder,
    leagueIds: leagues.filter(({ max_players }) => index < max_players).map(({ league_id }) => league_id),
  }));
  const entered = players.filter(({ leagueIds }) => leagueIds.length > 0);
  return Array.from({ length: Math.ceil(entered.length / PLAYERS_OF_PROCESS) }, (_, index) => {
    const name = `players ${index + 1}`;
    const of = entered.slice(index * PLAYERS_OF_PROCESS, (index + 1) * PLAYERS_OF_PROCESS);
    const several: SeveralPlayers = { name, data: folder, games: [], players: of };
    return { name, script: "player/several.ts", args: [JSON.stringify(several)] };
  });
}

const PROBE_MS = 1_000;
const PAUSE_MS = 100;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the server at a port of this machine is ready. Resolves with false if it is not ready after `ms` milliseconds. */
export async function untilReady(port: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await isReady(port))) {
    if (performance.now() > deadline) return false;
    await sleep(PAUSE_MS);
  }
  return true;
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`${originOf(port)}/ready`, { signal: AbortSignal.timeout(PROBE_MS) });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}
