import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { StoreBusy, StoreUnwritable } from "#shared/store/store-errors.ts";
import { DatabaseUnavailable } from "../../../league-manager/shared-run/run-database.ts";
import { agentsOf, copyOf, type Processes, type Start, seededIds } from "../agents.ts";
import { faultsOfLoad, limitsOf } from "../checks/load.ts";
import type { Fault } from "../checks/rules.ts";
import type { Choice } from "../checks/secrecy.ts";
import {
  addressOf,
  type Disturbance,
  endOf,
  endOfOperation,
  type Plan,
  restartsOf,
  START_MS,
  startsAt,
} from "../plan.ts";
import { processClock } from "./clock.ts";
import { SimulatedDatabase } from "./database.ts";
import { createDisk, DiskFull, type MachineDisk } from "./disk.ts";
import { crashesAt, type Machine, newMachine, newProcess, nextCommitFate, setCondition } from "./machine.ts";
import { copyName, DATABASE, isManager, MANAGER, playerName } from "./names.ts";
import { ask, createNetwork, fatesOf, type ObservedRequest, type SimulatedNetwork } from "./network.ts";
import type { Observer } from "./observer.ts";
import { createScheduler, settled } from "./scheduler.ts";

/** The time until the restart of a process that has ended with an error. */
const RESTART_MS = 300;
/** The time between two changes of a machine's date. */
const DATE_CHANGE_INTERVAL_MS = 250;
/** The time that the owner of a player waits for its registration. */
const REGISTRATION_MS = 6_000;
/** The interval at which disturbances wait for the invitation of their player. */
const INVITATION_POLL_MS = 50;
const MAX_COMMIT_MS = 5;
/** A process that has not stopped after this number of events is reported as a fault. */
const MAX_STOP_STEPS = 100_000;

/** The machines of a plan in virtual time. The production code runs with simulated clocks, ids and disks and one simulated network. */
export class World {
  readonly scheduler = createScheduler();
  /** Uncaught errors and exceeded limits. */
  readonly faults = new Set<Fault>();
  readonly #plan: Plan;
  readonly #observer: Observer;
  readonly #random: Random;
  readonly #network: SimulatedNetwork;
  readonly #machines = new Map<string, Machine>();
  /** The database of several managers; null for one manager. */
  readonly #database: SimulatedDatabase | null;
  /** The machines of the players, by the ids of the players. */
  readonly #players = new Map<string, string>();
  #isStopping = false;

  /** `choice` is a choice that its player replaces by another one. */
  constructor(plan: Plan, observer: Observer, choice: Choice | null = null) {
    this.#plan = plan;
    this.#observer = observer;
    this.#random = createRandom(`${plan.seed}/run`);
    const { scheduler } = this;
    const fateOf = fatesOf(plan, scheduler.now, this.#random);
    this.#database = plan.managers > 1 ? this.#openDatabase() : null;
    this.#network = createNetwork({
      scheduler,
      fateOf,
      withoutSockets: plan.withoutSockets,
      addressOf: (machine) => addressOf(plan, machine),
      playerWith: (id) => this.#players.get(id),
      onAnswer: (request, reply) => {
        this.#learnPlayer(request, reply);
        observer.onAnswer(request, reply);
      },
      stoppedUntil: (machine) => this.#machines.get(machine)?.stoppedUntil ?? 0,
      proxy: this.#database && {
        origin: new URL(MANAGER_ENDPOINT).origin,
        isBehind: isManager,
        random: createRandom(`${plan.seed}/proxy`),
      },
      onRequest: (request, sentAt) => {
        const machine = this.#machines.get(request.to);
        if (machine && !machine.isInvited && isInvitation(request.body)) machine.isInvited = true;
        for (const { afterMs, downMs } of machine?.messageCrashes.size ? crashesAt(machine, request.body) : [])
          scheduler.after(afterMs, () => machine && this.#kill(machine, downMs, "is killed at a message"));
        observer.onRequest(request, sentAt);
      },
    });
    const processes: Processes = {
      restart: (name) => this.#restart(name, RESTART_MS),
      stop: (name) => this.#leave(name),
    };
    for (const [name, start] of agentsOf(plan, choice, this.#database, observer.onView, processes))
      this.#add(name, start, this.#random.next() * START_MS + startsAt(plan, name));
    for (const one of plan.disturbances) scheduler.after(one.at, () => this.#disturb(one));
    for (const { machine, at, downMs } of restartsOf(plan))
      scheduler.after(at, () => this.#restart(machine, downMs, true));
  }

  /** Returns the database of the run; null before a manager has created it. */
  get database(): Database | null {
    if (this.#database) return this.#database.server.db;
    const databases = [...(this.#machines.get(MANAGER)?.disk.databases() ?? [])];
    return databases.find(([file]) => file.includes("league-manager"))?.[1] ?? null;
  }

  /** Returns the databases of all machines. */
  databases(): readonly Database[] {
    const ofMachines = [...this.#machines.values()].flatMap(({ disk }) => [...disk.databases().values()]);
    return this.#database ? [this.#database.server.db, ...ofMachines] : ofMachines;
  }

  /** Sends a request to the server of a machine, without delays and losses. Resolves with its answer; null without a server. */
  async ask(machine: string, body: string): Promise<string | null> {
    const server = this.#network.serverOf(machine);
    return server ? ask(server, this.scheduler, body) : null;
  }

  /** Returns the number of timers of all processes, except the signals of turns that were played by hand: they last until the end of the turn's time. */
  timers(): number {
    const byHand = this.#plan.visitor === undefined ? null : playerName(this.#plan.visitor);
    const counted = [...this.#machines.values()].filter(({ name }) => name !== byHand);
    return counted.reduce((sum, { process }) => sum + (process?.clock.timers() ?? 0), 0);
  }

  /**
   * Plays until `isDone` returns true or until the virtual time `limitMs`, and checks the open resources of all processes after each event. Resolves
   * with the number of events. A league that hangs reaches the limit, because its health probes continue.
   */
  async play(isDone: () => boolean, limitMs: number): Promise<number> {
    let steps = 0;
    const limits = limitsOf(this.#plan);
    while (!isDone() && this.scheduler.now() < limitMs && (await this.scheduler.step())) {
      steps++;
      for (const machine of this.#machines.values()) {
        // Messages that wait for a stopped process count as its timers.
        if (machine.stoppedUntil >= this.scheduler.now()) continue;
        for (const fault of faultsOfLoad(machine, limits)) this.faults.add(fault);
      }
    }
    return steps;
  }

  /** Stops every process, as a signal does. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // A stopped process cannot end by itself. Its supervisor kills it.
    for (const machine of this.#machines.values())
      if (machine.process && machine.stoppedUntil > this.scheduler.now())
        this.#kill(machine, 0, "is killed while it is stopped");
    const processes = [...this.#machines.values()].flatMap(({ process }) => process ?? []);
    let isOver = false;
    const stops = processes.map(({ agent, killed }) => agent && Promise.race([agent.stop(), killed]));
    void Promise.all(stops).then(() => {
      isOver = true;
    });
    await settled();
    for (let steps = 0; !isOver && steps < MAX_STOP_STEPS && (await this.scheduler.step()); steps++);
    if (!isOver) this.faults.add("resources: a process does not stop");
    await this.scheduler.finishTurn();
  }

  /** Records the id in the answer to the registration of a player. */
  #learnPlayer({ from }: ObservedRequest, reply: string): void {
    if (!from.startsWith("player")) return;
    const id = reply.includes("REGISTER_RESPONSE") ? /\\"player_id\\":\\"([^"\\]+)/.exec(reply)?.[1] : undefined;
    if (id !== undefined && this.#machines.has(from)) this.#players.set(id, from);
  }

  #openDatabase(): SimulatedDatabase {
    return new SimulatedDatabase({
      plan: this.#plan,
      scheduler: this.scheduler,
      machineOf: (name) => this.#machines.get(name),
      onCommitted: (db) => this.#observer.onCommitted(DATABASE, db),
      onCrash: (machine) => this.#kill(machine, machine.downMs, "is killed at a commit"),
    });
  }

  #trace(line: string): void {
    this.#observer.trace(`${this.scheduler.now().toFixed(0).padStart(8)} ${line}`);
  }

  #add(name: string, start: Start, afterMs: number, copied?: MachineDisk): void {
    const disk = createDisk(
      {
        commitMs: () => this.#random.next() * MAX_COMMIT_MS,
        fate: () => nextCommitFate(machine, this.scheduler.now()),
        onCommitted: (db) => this.#observer.onCommitted(name, db),
        onCrash: () => this.#kill(machine, machine.downMs, "is killed at a commit"),
      },
      copied?.secrets(),
    );
    const machine = newMachine(name, disk, start);
    this.#machines.set(name, machine);
    this.scheduler.after(afterMs, () => this.#start(machine));
  }

  #start(machine: Machine): void {
    if (machine.process || machine.hasLeft || this.#isStopping) return;
    const { name } = machine;
    machine.starts++;
    const maxStarts = maxStartsOf(this.#plan);
    if (machine.starts > maxStarts)
      return void this.faults.add(`errors: ${name} was started more than ${maxStarts} times`);
    this.#trace(`${name} starts`);
    const onThrow = (thrown: unknown): void => {
      if (machine.process === process) this.#end(machine, thrown);
    };
    const clock = processClock(
      this.scheduler,
      () => machine.dateOffset,
      onThrow,
      () => machine.stoppedUntil,
    );
    const [network, disk] = [this.#network.forProcess(name, clock), machine.disk.forProcess(clock)];
    const process = newProcess({ clock, network, disk }, () => {
      this.#database?.end(name);
      machine.stoppedUntil = 0;
    });
    machine.process = process;
    this.#observer.onProcess(name, true);
    const say = (line: string): void => {
      machine.isRegistered ||= line.startsWith("registered as");
      this.#trace(`${name}: ${line}`);
    };
    const ids = seededIds(`${this.#plan.seed}/${name}/${machine.starts}`);
    const self: AgentProcess = {
      log: openLog(null, name),
      say,
      warn: say,
      report: () => {},
      clock,
      ids,
      network,
      disk,
    };
    machine.start(self).then((agent) => {
      process.agent = agent;
    }, onThrow);
  }

  /** Ends a process after an error and starts it again, as `league run` does. */
  #end(machine: Machine, thrown: unknown): void {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const isStarting = machine.process?.agent === null;
    // A manager that runs rejects what it cannot write, and continues.
    const isExpectedNow = isManager(machine.name) ? () => false : isExpected;
    if (!(isStarting ? isExpectedAtStart(thrown) : isExpectedNow(thrown)))
      this.faults.add(`errors: ${machine.name}: ${text}`);
    this.#kill(machine, RESTART_MS, `ends: ${text.split("\n")[0]}`);
  }

  #kill(machine: Machine, downMs: number, reason: string): void {
    const { process } = machine;
    if (!process) return;
    this.#trace(`${machine.name} ${reason}`);
    machine.process = null;
    this.#observer.onProcess(machine.name, false);
    process.kill();
    this.scheduler.after(downMs, () => this.#start(machine));
  }

  #setDate(machine: Machine, byMs: number, until: number): void {
    machine.dateOffset += byMs;
    if (this.scheduler.now() + DATE_CHANGE_INTERVAL_MS <= until) {
      this.scheduler.after(DATE_CHANGE_INTERVAL_MS, () => this.#setDate(machine, -byMs, until));
    }
  }

  /** Restarts a process. If `isPlayer`, its owner does so again until it is registered: a simulated player whose registration is rejected does not end. */
  #restart(name: string, downMs: number, isPlayer = false): void {
    const machine = this.#machines.get(name);
    if (!machine) return;
    machine.isRegistered = false;
    this.#kill(machine, downMs, "is restarted by its owner");
    if (!isPlayer || isManager(name)) return;
    this.scheduler.after(REGISTRATION_MS, () => {
      if (!machine.isRegistered && !machine.hasLeft && !this.#isStopping) this.#restart(name, downMs, true);
    });
  }

  #leave(name: string): void {
    const machine = this.#machines.get(name);
    if (!machine) return;
    machine.hasLeft = true;
    const { process } = machine;
    const leave = async (): Promise<void> => {
      await process?.agent?.leave?.();
      await process?.agent?.stop();
    };
    void Promise.race([leave(), process?.killed]).then(() => this.#kill(machine, 0, "has left"));
  }

  #copy({ name, disk }: Machine): void {
    const copy = copyName(name);
    if (!this.#machines.has(copy)) this.#add(copy, copyOf(this.#plan, name, this.#observer.onView), 0, disk);
  }

  #disturb(one: Disturbance): void {
    const machine = "machine" in one ? this.#machines.get(one.machine) : undefined;
    if ((one.type === "leave" || one.type === "copy") && machine?.isInvited === false) {
      this.scheduler.after(INVITATION_POLL_MS, () => this.#disturb(one));
      return;
    }
    this.#trace(JSON.stringify(one));
    if (one.type === "database crash") this.#database?.crash(one.downMs);
    if (one.type === "partition" && !one.isSilent) this.#database?.separate(one);
    if (!machine) return;
    setCondition(machine, one);
    if (one.type === "leave" || one.type === "retire") this.#leave(machine.name);
    if (one.type === "copy") this.#copy(machine);
    if (one.type === "crash") this.#kill(machine, one.downMs, "is killed");
    if (one.type === "clock set") this.#setDate(machine, one.byMs, one.at + one.ms);
  }
}

/** Whether a message invites a player to a match, in any dialect. */
const isInvitation = (body: string): boolean => /"(GAME_INVITE|GAME_INVITATION|GAME_START)"/.test(body);

/** A process is started once, after each disturbance that ends it, and again and again while it cannot start, until the last disturbance ends. */
function maxStartsOf(plan: Plan): number {
  const { disturbances, calls = [] } = plan;
  const endsAt = Math.max(endOfOperation(plan), ...disturbances.map(endOf));
  return 1 + disturbances.length + restartsOf(plan).length + 3 * calls.length + Math.ceil(endsAt / RESTART_MS);
}

/** Returns true for errors with which a process ends by design. */
export const isExpected = (thrown: unknown): boolean =>
  thrown instanceof StartError || thrown instanceof DiskFull || thrown instanceof StoreUnwritable;

/** Returns true for errors with which the start of a manager ends while its database does not answer. */
const isExpectedAtStart = (thrown: unknown): boolean =>
  isExpected(thrown) || thrown instanceof DatabaseUnavailable || thrown instanceof StoreBusy;
