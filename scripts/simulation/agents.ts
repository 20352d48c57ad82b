import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { LOOPBACK_HOST, MANAGER_ENDPOINT, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { startManager } from "../../league-manager/service.ts";
import type { ModelDatabase } from "../../league-manager/shared-run/testing/model-database.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";
import { withBehaviour } from "./behaviour.ts";
import { type Choice, withOtherChoice } from "./checks/secrecy.ts";
import { startDialectPlayer } from "./dialect-players.ts";
import { configOf, identityOf, WAITING_LEAGUE } from "./leagues.ts";
import type { Victims } from "./liar.ts";
import { START_MS } from "./machines/clock.ts";
import { copyName, machineOf, managerName, operatorName, playerName, refereeName, VISITOR } from "./machines/names.ts";
import type { Observer } from "./machines/observer.ts";
import { withObservedViews } from "./observed-bot.ts";
import { type Owners, startOperator } from "./operator.ts";
import { operatorNames } from "./operator-plans.ts";
import type { Plan } from "./plan.ts";
import { addressOf, dialectOf, isLate, punctualPlayers } from "./player-plans.ts";
import { startVisitor, withRoundResults } from "./visitor.ts";

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

/** The time after which a game that a visitor has begun expires. */
const EXPIRY_MS = 1_000;

/** The database that several managers share. */
interface SharedDatabase {
  /** Connects the process of a machine. */
  connect(machine: string, self: Pick<AgentProcess, "clock">): ModelDatabase;
}

/** What the owners of machines do with their processes. */
export interface Processes {
  restart(machine: string): void;
  stop(machine: string): void;
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
  processes: Processes,
): ReadonlyMap<string, Start> {
  const agents = new Map<string, Start>();
  const tokens = new Map<string, string>();
  for (let n = 0; n < plan.managers; n++) agents.set(managerName(n), managerOf(plan, n, shared));
  for (let n = 0; n < plan.referees; n++) agents.set(refereeName(n), refereeOf(plan, n));
  for (let n = 0; n < plan.players.length; n++) {
    const machine = playerName(n);
    agents.set(machine, playerOf(plan, n, { port: FIRST_PORT.player + n, choice, machine, onView, tokens }));
  }
  if (plan.visitor !== undefined) agents.set(VISITOR, visitorOf(plan.visitor));
  for (const name of operatorNames(plan)) agents.set(name, operatorOf(plan, name, ownersOf(processes, tokens)));
  return agents;
}

/** The owners of the players. `tokens` are the new tokens of players, by name. */
function ownersOf({ restart, stop }: Processes, tokens: Map<string, string>): Owners {
  return {
    restart: (player) => restart(machineOf(player)),
    // The owner of a machine that will run another player does not know of it.
    onForgotten: (player) => player.startsWith("P") && stop(machineOf(player)),
    handOver(player, token) {
      tokens.set(player, token);
      restart(machineOf(player));
    },
  };
}

const operatorOf =
  (plan: Plan, name: string, owners: Owners): Start =>
  (self) => {
    const { calls = [] } = plan;
    const own = calls.filter(({ operator }) => name === operatorName(operator));
    const isWatching = calls.some(({ tool }) => tool === "pause_league") && name === operatorName(1);
    return startOperator({ calls: own, isWatching, players: punctualPlayers(plan), owners }, self);
  };

const visitorOf =
  (player: number): Start =>
  (self) =>
    startVisitor(
      {
        ...{ referee: endpoint(FIRST_PORT.referee), player: endpoint(FIRST_PORT.player + player) },
        league: WAITING_LEAGUE,
      },
      self,
    );

const NONE: ReadonlyMap<string, string> = new Map();

/** Returns a second process of a player, with the same name and another port. */
export function copyOf(plan: Plan, player: string, onView: Observer["onView"]): Start {
  const n = plan.players.findIndex((_, index) => playerName(index) === player);
  return playerOf(plan, n, {
    port: FIRST_PORT.copy + n,
    choice: null,
    machine: copyName(player),
    onView,
    tokens: NONE,
  });
}

function managerOf(plan: Plan, n: number, shared: SharedDatabase | null): Start {
  let starts = 0;
  return (self) => {
    const config = configOf(plan, plan.startsAtMs?.[Math.min(starts++, 1)], shared && manager);
    const onEvent = (event: object): void => self.say(JSON.stringify(event));
    const options = { dataFolder: "/manager", config, seed: sha256Hex(plan.seed), onEvent };
    if (!shared) return startManager(options, self);
    const database = async () => {
      const run = shared.connect(managerName(n), self);
      return { run, queue: run.queue };
    };
    return startManager({ ...options, port: FIRST_PORT.manager + n, database }, self);
  };
}

const refereeOf =
  ({ capacity, visitor }: Plan, n: number): Start =>
  (self) =>
    startReferee(
      {
        ...{ name: `R${n + 1}`, host: HOST, ports: [FIRST_PORT.referee + n], manager, dataFolder: `/referee-${n}` },
        ...{ registerTimeoutMs: ATTEMPT_MS, reportTimeoutMs: ATTEMPT_MS },
        ...(capacity !== undefined && { maxConcurrentMatches: capacity }),
        ...(visitor !== undefined && { expireAfterMs: EXPIRY_MS }),
      },
      self,
    );

/** One process of a player. */
interface PlayerProcess {
  readonly port: number;
  readonly choice: Choice | null;
  readonly machine: string;
  readonly onView: Observer["onView"];
  /** The tokens that operators have reset, by the name of the player. */
  readonly tokens: ReadonlyMap<string, string>;
}

const playerOf =
  (plan: Plan, n: number, { port, choice, machine, onView, tokens }: PlayerProcess): Start =>
  (self) => {
    const identity = identityOf(plan, n, self.clock.now() - START_MS);
    const program = dialectOf(plan, n);
    if (program) return startDialectPlayer({ program, name: identity.name, game: plan.game.id, port, manager }, self);
    const hasInbox = plan.contacts?.[n] === "inbox";
    const token = tokens.get(identity.name);
    if (token) self.disk.writeSecret(tokenFileOf(identity.dataFolder, "player", identity.name), token);
    return startPlayer(
      {
        ...{ ...identity, host: HOST, ports: [port], manager, registerTimeoutMs: ATTEMPT_MS, pull: hasInbox },
        endpoint: hasInbox ? null : endpoint(port, addressOf(plan, machine)),
        ...(n === plan.visitor && { bot: "manual" }),
      },
      { ...self, network: withOtherChoice(choice, playerName(n), networkOf(plan, n, self)) },
      (bot) => withObservedViews(bot, (seat, view) => onView(machine, seat, view)),
    );
  };

function networkOf(plan: Plan, n: number, self: AgentProcess): Network {
  const network = withBehaviour(plan.players[n] ?? "well", self, victimsOf(plan, n));
  return plan.visitor === undefined ? network : withRoundResults(network);
}

const endpoint = (port: number, host: string = HOST): string => `http://${host}:${port}/mcp`;

/** Returns all agents except the player with the index `self`. */
const victimsOf = (plan: Plan, self: number): Victims => ({
  manager,
  referees: Array.from({ length: plan.referees }, (_, n) => endpoint(FIRST_PORT.referee + n)),
  players: plan.players.flatMap((_, n) => (n === self ? [] : [endpoint(FIRST_PORT.player + n)])),
  // The name of a player that comes late, or whose machine runs another player before, is free until then.
  names: plan.players.flatMap((_, n) => (n === self || isLate(plan, n) || n === plan.former ? [] : [`P${n + 1}`])),
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
