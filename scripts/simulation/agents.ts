import { isoAt } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST, MANAGER_ENDPOINT, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { startManager } from "../../league-manager/service.ts";
import type { ModelDatabase } from "../../league-manager/shared-run/testing/model-database.ts";
import type { LoadedBot } from "../../player/loaded-bot.ts";
import type { BotObject } from "../../player/sdk.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";
import { envelopesIn } from "./checks/messages.ts";
import { type Choice, withOtherChoice } from "./checks/secrecy.ts";
import { startDialectPlayer } from "./dialect-players.ts";
import { type Change, createHostile, createLiar, type Victims } from "./hostile.ts";
import { START_MS } from "./machines/clock.ts";
import { copyName, machineOf, managerName, operatorName, playerName, refereeName, VISITOR } from "./machines/names.ts";
import type { BotSeat, Observer } from "./machines/observer.ts";
import { OPERATOR_TOKEN, type Owners, startOperator } from "./operator.ts";
import {
  addressOf,
  type Behaviour,
  dialectOf,
  FIRST_LEAGUE,
  isLate,
  MOVE_MS,
  operatorNames,
  type Plan,
  punctualPlayers,
  RESTART_AT_MS,
  SLOW_MOVE_MS,
} from "./plan.ts";
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
        referee: endpoint(FIRST_PORT.referee),
        player: endpoint(FIRST_PORT.player + player),
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
        name: `R${n + 1}`,
        host: HOST,
        ports: [FIRST_PORT.referee + n],
        manager,
        dataFolder: `/referee-${n}`,
        registerTimeoutMs: ATTEMPT_MS,
        reportTimeoutMs: ATTEMPT_MS,
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
        ...identity,
        host: HOST,
        ports: [port],
        manager,
        registerTimeoutMs: ATTEMPT_MS,
        pull: hasInbox,
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

/** A league that no plan starts. */
const WAITING_LEAGUE = "next";

/**
 * Returns the config of the managers of a plan: the league `sim`, and others that its players enter before. `startsAtMs` is the time of its start, since
 * that of the run. `endpoint` is that of several managers.
 */
function configOf(plan: Plan, startsAtMs: number | undefined, endpoint: string | null): Config {
  const { game, clock, format, lateEntry, matchMs, roundMs, calls } = plan;
  const manager = {
    ...(endpoint !== null && { endpoint }),
    ...(calls && { operator_token: OPERATOR_TOKEN }),
  };
  const isWaiting = [plan.added, plan.former, plan.visitor].some((index) => index !== undefined);
  return Config.parse({
    leagues: [
      {
        league_id: "sim",
        game: game.id,
        options: game.options,
        clock,
        min_players: minPlayers(plan),
        ...(lateEntry && { late_entry: lateEntry }),
        ...(format && { format: format.id, format_options: format.options }),
        ...(roundMs !== undefined && { round_ms: roundMs }),
        ...(startsAtMs !== undefined && { starts_at: isoAt(START_MS + startsAtMs) }),
      },
      ...(isWaiting ? [{ league_id: WAITING_LEAGUE, game: game.id, options: game.options }] : []),
      ...(plan.isSecondLeague
        ? [{ league_id: FIRST_LEAGUE, game: game.id, options: game.options, min_players: 2, max_players: 2 }]
        : []),
    ],
    timeouts: { move_ms: MOVE_MS, join_ms: MOVE_MS, ...(matchMs !== undefined && { match_ms: matchMs }) },
    ...(Object.keys(manager).length > 0 && { manager }),
  });
}

/** The number of players with which the league starts; undefined if an operator starts it. */
function minPlayers(plan: Plan): number | undefined {
  const { added, calls = [], isStartedByOperator } = plan;
  if (isStartedByOperator) return undefined;
  const isAddedLate =
    added !== undefined && !calls.some(({ tool, after }) => tool === "add_player" && after === "begin");
  return punctualPlayers(plan) - (isAddedLate ? 1 : 0);
}

/** The player that a machine runs. */
interface Identity {
  readonly name: string;
  readonly dataFolder: string;
  readonly leagueIds?: readonly string[];
}

/** Returns the player that a machine runs at a time, in ms since the start of the run. */
function identityOf({ former, added, visitor, isSecondLeague }: Plan, index: number, atMs: number): Identity {
  const self = { name: `P${index + 1}`, dataFolder: `/player-${index}` };
  const isEarly = atMs < RESTART_AT_MS;
  if (isEarly && index === former)
    return { name: `Q${index + 1}`, dataFolder: `/former-${index}`, leagueIds: [WAITING_LEAGUE] };
  if (index === added) return { ...self, leagueIds: [WAITING_LEAGUE] };
  if (isEarly && isSecondLeague && index < 2) return { ...self, leagueIds: [FIRST_LEAGUE] };
  const isOnly = [former, added, visitor].every((other) => other === undefined) && !isSecondLeague;
  return isOnly ? self : { ...self, leagueIds: ["sim"] };
}

/** Returns the network of a player with a behaviour, which changes the answers of the player. */
function withBehaviour(behaviour: Behaviour, self: AgentProcess, victims: Victims): Network {
  const { network } = self;
  if (behaviour === "well") return network;
  const closed = new AbortController();
  const change = changeOf(behaviour, self, victims, closed.signal);
  return {
    ...network,
    async listen(options) {
      const listening = await network.listen({
        ...options,
        handler: async (body, http) => change(body, await options.handler(body, http)),
      });
      if (!listening.ok) return listening;
      const close = async (): Promise<void> => {
        await listening.value.close();
        closed.abort();
      };
      return { ok: true, value: { ...listening.value, close } };
    },
  };
}

/** Whether an unsteady player is silent in the match of a request: in about half of the matches. */
const isSilentIn = (request: string): boolean =>
  envelopesIn(request).some(
    ({ payload }) => Number.parseInt(sha256Hex(String(payload.match_id)).slice(0, 2), 16) < 128,
  );

function changeOf(behaviour: Behaviour, self: AgentProcess, victims: Victims, closed: AbortSignal): Change {
  const onMoveRequest =
    (change: Change): Change =>
    (request, honest) =>
      request.includes('"MOVE_REQUEST"') ? change(request, honest) : honest;
  const replace =
    (pattern: string | RegExp, replacement: string): Change =>
    (_, honest) => ({ ...honest, body: honest.body.replace(pattern, replacement) });
  switch (behaviour) {
    case "silent":
      return onMoveRequest(() => new Promise(() => {}));
    case "unsteady":
      return onMoveRequest((request, honest) => (isSilentIn(request) ? new Promise(() => {}) : honest));
    case "slow":
      return onMoveRequest(async (_, honest) => {
        await self.clock.pause(SLOW_MOVE_MS, closed);
        return honest;
      });
    case "illegal":
      return onMoveRequest(replace(/\\"move\\":(\\"[^"]*\\"|[^,}]*)/, '\\"move\\":\\"nonsense\\"'));
    case "garbage":
      return onMoveRequest((_, honest) => ({ ...honest, body: "<html>" }));
    case "declining":
      return replace('\\"accept\\":true', '\\"accept\\":false');
    case "lying":
      return createLiar(self, victims, closed);
    case "hostile":
      return createHostile(self, victims, closed);
    default:
      return (_, honest) => honest;
  }
}

/**
 * Returns a bot that reports each view that it receives, as JSON. After its answer it overwrites the elements of the lists in the view, as a bot may do:
 * the views of later turns must not change.
 */
const withObservedViews = (bot: LoadedBot, onView: (seat: BotSeat, view: string) => void): LoadedBot => ({
  ...bot,
  create(log) {
    const inner = bot.create(log);
    let match = { leagueId: "", matchId: "", epoch: 0 };
    const observed: BotObject = {
      async choose(turn) {
        const { view, role, tick } = turn;
        onView({ ...match, role, tick }, JSON.stringify(view));
        const action = await inner.choose(turn);
        overwriteLists(view);
        return action;
      },
      start(info) {
        match = info;
        return inner.start?.(info);
      },
      end: (result) => inner.end?.(result),
    };
    return { ...observed, close: () => inner.close?.() };
  },
});

function overwriteLists(value: unknown): void {
  if (Array.isArray(value)) value.fill(null);
  else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) overwriteLists(one);
}
