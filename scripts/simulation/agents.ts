import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST, MANAGER_ENDPOINT, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { startManager } from "../../league-manager/service.ts";
import type { ModelDatabase } from "../../league-manager/shared-run/testing/model-database.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";
import { withBehaviour } from "./behaviour.ts";
import { type Choice, withOtherChoice } from "./checks/secrecy.ts";
import type { Victims } from "./liar.ts";
import { copyName, managerName, playerName, refereeName } from "./machines/names.ts";
import type { Observer } from "./machines/observer.ts";
import { withObservedViews } from "./observed-bot.ts";
import { MOVE_MS, type Plan } from "./plan.ts";

/** Starts the production code of an agent as one process. */
export type Start = (self: AgentProcess) => Promise<RunningAgent>;

const HOST = LOOPBACK_HOST;
const FIRST_PORT = {
  referee: PORT_RANGES.referee[0],
  player: PORT_RANGES.player[0],
  copy: 8201,
  manager: 8301,
} as const;
const manager = MANAGER_ENDPOINT;
/** Half of the default, so that a lost message is repeated sooner and a run takes fewer steps. */
const ATTEMPT_MS = 5_000;

/** The database that several managers share. */
interface SharedDatabase {
  /** Connects the process of a machine. */
  connect(machine: string, self: Pick<AgentProcess, "clock">): ModelDatabase;
}

/**
 * Returns the agents of a plan by the names of their machines. `choice` is a choice that its player replaces by another one. `shared` is null for
 * one manager. `onView` is called with each view that a bot receives.
 */
export function agentsOf(
  plan: Plan,
  choice: Choice | null,
  shared: SharedDatabase | null,
  onView: Observer["onView"],
): ReadonlyMap<string, Start> {
  const agents = new Map<string, Start>();
  for (let n = 0; n < plan.managers; n++) agents.set(managerName(n), managerOf(plan, n, shared));
  for (let n = 0; n < plan.referees; n++) agents.set(refereeName(n), refereeOf(plan, n));
  for (let n = 0; n < plan.players.length; n++)
    agents.set(
      playerName(n),
      playerOf(plan, n, { port: FIRST_PORT.player + n, choice, machine: playerName(n), onView }),
    );
  return agents;
}

/** Returns a second process of a player, with the same name and another port. */
export function copyOf(plan: Plan, player: string, onView: Observer["onView"]): Start {
  const n = plan.players.findIndex((_, index) => playerName(index) === player);
  return playerOf(plan, n, { port: FIRST_PORT.copy + n, choice: null, machine: copyName(player), onView });
}

function managerOf(
  { seed, game, players, clock, format, matchMs }: Plan,
  n: number,
  shared: SharedDatabase | null,
): Start {
  const config = Config.parse({
    leagues: [
      {
        ...{ league_id: "sim", game: game.id, options: game.options, clock, min_players: players.length },
        ...(format && { format: format.id, format_options: format.options }),
      },
    ],
    timeouts: { move_ms: MOVE_MS, join_ms: MOVE_MS, ...(matchMs !== undefined && { match_ms: matchMs }) },
    ...(shared && { manager: { endpoint: manager } }),
  });
  return (self) => {
    const onEvent = (event: object): void => self.say(JSON.stringify(event));
    const options = { dataFolder: "/manager", config, seed: sha256Hex(seed), onEvent };
    if (!shared) return startManager(options, self);
    const database = async () => {
      const run = shared.connect(managerName(n), self);
      return { run, queue: run.queue };
    };
    return startManager({ ...options, port: FIRST_PORT.manager + n, database }, self);
  };
}

const refereeOf =
  ({ capacity }: Plan, n: number): Start =>
  (self) =>
    startReferee(
      {
        ...{ name: `R${n + 1}`, host: HOST, ports: [FIRST_PORT.referee + n], manager, dataFolder: `/referee-${n}` },
        ...{ registerTimeoutMs: ATTEMPT_MS, reportTimeoutMs: ATTEMPT_MS },
        ...(capacity !== undefined && { maxConcurrentMatches: capacity }),
      },
      self,
    );

/** One process of a player. */
interface PlayerProcess {
  readonly port: number;
  readonly choice: Choice | null;
  readonly machine: string;
  readonly onView: Observer["onView"];
}

const playerOf =
  (plan: Plan, n: number, { port, choice, machine, onView }: PlayerProcess): Start =>
  (self) =>
    startPlayer(
      {
        ...{ name: `P${n + 1}`, host: HOST, ports: [port], manager },
        ...{ dataFolder: `/player-${n}`, registerTimeoutMs: ATTEMPT_MS },
      },
      { ...self, network: withOtherChoice(choice, playerName(n), networkOf(plan, n, self)) },
      (bot) => withObservedViews(bot, (seat, view) => onView(machine, seat, view)),
    );

const networkOf = (plan: Plan, n: number, self: AgentProcess): Network =>
  withBehaviour(plan.players[n] ?? "well", self, victimsOf(plan, n));

const endpoint = (port: number): string => `http://${HOST}:${port}/mcp`;

/** Returns all agents except the player with the index `self`. */
const victimsOf = ({ referees, players }: Plan, self: number): Victims => ({
  manager,
  referees: Array.from({ length: referees }, (_, n) => endpoint(FIRST_PORT.referee + n)),
  players: players.flatMap((_, n) => (n === self ? [] : [endpoint(FIRST_PORT.player + n)])),
});

/** Returns tokens and ids that depend only on the seed. */
export function seededIds(seed: string): Ids {
  let count = 0;
  const next = (): string => sha256Hex(`${seed}/${count++}`);
  return {
    token: () => Buffer.from(next(), "hex").toString("base64url"),
    uuid: () => next().replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5"),
  };
}
