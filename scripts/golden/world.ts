import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST, MANAGER_ENDPOINT, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { startManager } from "../../league-manager/service.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";
import { type ProcessClock, processClock } from "../simulation/machines/clock.ts";
import { createDisk } from "../simulation/machines/disk.ts";
import { ask, createNetwork, type Fate, type ObservedRequest } from "../simulation/machines/network.ts";
import { createScheduler, settled } from "../simulation/machines/scheduler.ts";

/** A player of a league: one with a built-in bot, or one that `start` starts. */
export type WorldPlayer = { readonly name: string } & (
  | { readonly bot: string; readonly leagueIds?: readonly string[] }
  | { readonly start: (self: AgentProcess, port: number, ask: AskManager) => Promise<RunningAgent> }
);

/** Sends a request to the manager. Resolves with the body of its answer. */
export type AskManager = (body: string) => Promise<string | null>;

interface WorldOptions {
  readonly seed: string;
  readonly config: Config;
  /** In the order of their registration. */
  readonly players: readonly WorldPlayer[];
  readonly startWhen: "roster" | "count";
  readonly onRequest?: (request: ObservedRequest) => void;
  readonly onAnswer?: (request: ObservedRequest, reply: string) => void;
  /** Called when all leagues are completed, before the agents stop. */
  readonly onCompleted?: (askManager: AskManager) => Promise<void>;
}

/** No message and no commit takes time, so dates change only with timers, and the order of events does not depend on durations. */
const IMMEDIATE: Fate = { requestMs: 0, replyMs: 0, request: "arrives", reply: "arrives" };

/** The virtual time within which a league must be over. */
const LIMIT_MS = 600_000;

const MANAGER = "manager";
const FOLDER = "/run";

/**
 * Plays the leagues of a config in virtual time, with the manager, one referee and the players in this process and with the code of real leagues.
 * Everything depends on the seed alone if the modules are loaded that agents import on first use (`warmUp`), because virtual time does not wait for
 * the disk of this machine. Resolves with the database of the manager.
 */
export async function playInWorld(options: WorldOptions): Promise<Database> {
  const world = new World(options);
  await world.start(MANAGER, (self) => managerOf(options, self));
  await world.start("referee", (self) => refereeOf(self));
  for (const [index, player] of options.players.entries())
    await world.start(`player-${index + 1}`, (self) => playerOf(player, PORT_RANGES.player[0] + index, self, world));
  return world.end();
}

/** Loads the modules that the agents of a league import on first use, by playing it. */
export async function warmUp(options: WorldOptions): Promise<void> {
  const db = await playInWorld({ ...options, onRequest: () => {}, onAnswer: () => {} });
  db.close();
}

class World {
  readonly #options: WorldOptions;
  readonly #scheduler = createScheduler();
  readonly #network: ReturnType<typeof createNetwork>;
  readonly #agents: RunningAgent[] = [];
  readonly #clocks: ProcessClock[] = [];
  /** The first error that no component has caught. */
  #thrown: unknown;
  /** The disk of all agents, which share the folder of the run with the tokens. */
  readonly #disk = createDisk({ fate: () => "written", commitMs: () => 0, onCommitted: () => {}, onCrash: () => {} });

  constructor(options: WorldOptions) {
    this.#options = options;
    const { onRequest = () => {}, onAnswer = () => {} } = options;
    this.#network = createNetwork({
      scheduler: this.#scheduler,
      fateOf: () => IMMEDIATE,
      withoutSockets: [],
      stoppedUntil: () => 0,
      addressOf: () => LOOPBACK_HOST,
      playerWith: () => undefined,
      proxy: null,
      onRequest,
      onAnswer,
    });
  }

  /** Starts an agent and plays until it has started and registered, so that ids follow the order of the starts. */
  async start(name: string, start: (self: AgentProcess) => Promise<RunningAgent>): Promise<void> {
    const onThrow = (thrown: unknown): void => {
      this.#thrown ??= thrown;
    };
    const clock = processClock(this.#scheduler, () => 0, onThrow);
    this.#clocks.push(clock);
    const self: AgentProcess = {
      log: openLog(null, name),
      say: () => {},
      warn: () => {},
      report: () => {},
      clock,
      ids: seededIds(`${this.#options.seed}/${name}`),
      network: this.#network.forProcess(name, clock),
      disk: this.#disk.forProcess(clock),
    };
    let agent: RunningAgent | null = null;
    start(self).then((started) => {
      agent = started;
    }, onThrow);
    await this.#play(() => agent !== null);
    if (agent) this.#agents.push(agent);
    await this.#scheduler.finishTurn();
  }

  async ask(body: string): Promise<string | null> {
    const server = this.#network.serverOf(MANAGER);
    return server ? ask(server, this.#scheduler, body) : null;
  }

  /** Plays until all leagues are completed, and stops all agents. */
  async end(): Promise<Database> {
    const db = this.#disk.databases().get(join(FOLDER, "league-manager.sqlite"));
    if (!db) throw new Error("the manager has no database");
    const completed = db.prepare("SELECT count(*) AS count FROM log WHERE type = 'completed'");
    const leagues = this.#options.config.leagues.length;
    await this.#play(() => Number(completed.get()?.count) === leagues);
    await this.#scheduler.finishTurn();
    await this.#options.onCompleted?.((body) => this.ask(body));
    let isStopped = false;
    const stopping = Promise.all(this.#agents.reverse().map((agent) => agent.stop())).then(() => {
      isStopped = true;
    });
    await this.#play(() => isStopped);
    await stopping;
    for (const clock of this.#clocks) clock.stop();
    return db;
  }

  async #play(isDone: () => boolean): Promise<void> {
    const limit = this.#scheduler.now() + LIMIT_MS;
    await settled();
    await this.#scheduler.finishTurn();
    while (!isDone()) {
      if (this.#thrown !== undefined) throw this.#thrown;
      const hasNext = await this.#scheduler.step();
      if (!hasNext || this.#scheduler.now() > limit) throw new Error(`${this.#options.seed}: the league does not end`);
    }
  }
}

const managerOf = ({ seed, config, startWhen }: WorldOptions, self: AgentProcess): Promise<RunningAgent> =>
  startManager({ dataFolder: FOLDER, config, seed: sha256Hex(seed), startWhen }, self);

const refereeOf = (self: AgentProcess): Promise<RunningAgent> =>
  startReferee({ name: "Referee 1", ...PLACE, ports: [PORT_RANGES.referee[0]] }, self);

const PLACE = { host: LOOPBACK_HOST, manager: MANAGER_ENDPOINT, dataFolder: FOLDER };

function playerOf(player: WorldPlayer, port: number, self: AgentProcess, world: World): Promise<RunningAgent> {
  if ("start" in player) return player.start(self, port, (body) => world.ask(body));
  const { name, bot, leagueIds = null } = player;
  return startPlayer({ name, bot, leagueIds, ...PLACE, ports: [port] }, self);
}

/** Returns tokens and ids that depend only on the seed. Tokens and ids are counted separately, because messages have ids: a further message changes no token. */
function seededIds(seed: string): Ids {
  const counts = { token: 0, uuid: 0 };
  const next = (kind: "token" | "uuid"): string => sha256Hex(`${seed}/${kind}/${counts[kind]++}`);
  return {
    token: () => Buffer.from(next("token"), "hex").toString("base64url"),
    uuid: () => next("uuid").replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5"),
  };
}
