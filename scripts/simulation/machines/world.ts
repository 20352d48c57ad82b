import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { agentsOf, copyOf, type Start, seededIds } from "../agents.ts";
import type { Choice } from "../checks/secrecy.ts";
import { copyName, type Disturbance, matchesAtOnce, type Plan, START_MS } from "../plan.ts";
import { processClock } from "./clock.ts";
import type { ObservedRequest } from "./connection.ts";
import { type CommitFate, createDisk, DiskFull, type MachineDisk } from "./disk.ts";
import { fatesOf } from "./fates.ts";
import { faultsOfLoad, type Load, type Machine, type Process } from "./machine.ts";
import { createNetwork, type SimulatedNetwork } from "./network.ts";
import { createScheduler, settled } from "./scheduler.ts";

/** The time until the restart of a process that has ended with an error. */
const RESTART_MS = 300;
/** The time between two changes of a machine's date. */
const DATE_CHANGE_INTERVAL_MS = 250;
/** The interval at which disturbances wait for the invitation of their player. */
const INVITATION_POLL_MS = 50;
/** A process that is started more often is reported as a fault. */
const MAX_STARTS = 100;
const MAX_COMMIT_MS = 5;
/** A process that has not stopped after this number of events is reported as a fault. */
const MAX_STOP_STEPS = 100_000;

/** Receives the messages, commits and trace lines of a run. */
export interface Observer {
  onRequest(request: ObservedRequest): void;
  onAnswer(request: ObservedRequest, reply: string): void;
  /** Called after a commit to a database of a machine, before the process is notified. */
  onCommitted(machine: string, db: Database): void;
  trace(line: string): void;
}

/** Returns true for errors with which a process ends by design. */
export const isExpected = (thrown: unknown): boolean => thrown instanceof StartError || thrown instanceof DiskFull;

/** The machines of a plan in virtual time. The production code runs with simulated clocks, ids and disks and one simulated network. */
export class World {
  readonly scheduler = createScheduler();
  /** Uncaught errors and exceeded limits. */
  readonly faults = new Set<string>();
  readonly #plan: Plan;
  readonly #observer: Observer;
  readonly #random: Random;
  readonly #network: SimulatedNetwork;
  readonly #machines = new Map<string, Machine>();
  #isStopping = false;

  /** `choice` is a choice that its player replaces by another one. */
  constructor(plan: Plan, observer: Observer, choice: Choice | null = null) {
    this.#plan = plan;
    this.#observer = observer;
    this.#random = createRandom(`${plan.seed}/run`);
    const { scheduler } = this;
    const fateOf = fatesOf(plan, scheduler.now, this.#random);
    this.#network = createNetwork({
      ...{ scheduler, fateOf, onAnswer: observer.onAnswer, withoutSockets: plan.withoutSockets },
      onRequest: (request) => {
        const machine = this.#machines.get(request.to);
        if (machine && request.body.includes('"GAME_INVITE"')) machine.isInvited = true;
        observer.onRequest(request);
      },
    });
    for (const [name, start] of agentsOf(plan, choice)) this.#add(name, start, this.#random.next() * START_MS);
    for (const one of plan.disturbances) scheduler.after(one.at, () => this.#disturb(one));
  }

  /** Returns the databases of a machine by path. */
  databasesOf(machine: string): ReadonlyMap<string, Database> {
    return this.#machines.get(machine)?.disk.databases() ?? new Map();
  }

  /** Returns the number of timers of all processes. */
  timers(): number {
    return [...this.#machines.values()].reduce((sum, { process }) => sum + (process?.clock.timers() ?? 0), 0);
  }

  /**
   * Plays until `isDone` returns true or until the virtual time `limitMs`, and checks the open resources of all processes after each event. Resolves
   * with the number of events. A league that hangs reaches the limit, because its health probes continue.
   */
  async play(isDone: () => boolean, limitMs: number): Promise<number> {
    let steps = 0;
    while (!isDone() && this.scheduler.now() < limitMs && (await this.scheduler.step())) {
      steps++;
      for (const machine of this.#machines.values()) {
        for (const fault of faultsOfLoad(machine, this.#machines.size, matchesAtOnce(this.#plan)))
          this.faults.add(fault);
      }
    }
    return steps;
  }

  /** Stops every process, as a signal does. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const processes = [...this.#machines.values()].flatMap(({ process }) => process ?? []);
    let isOver = false;
    const stops = processes.map(({ agent, killed }) => agent && Promise.race([agent.stop(), killed]));
    void Promise.all(stops).then(() => {
      isOver = true;
    });
    await settled();
    for (let steps = 0; !isOver && steps < MAX_STOP_STEPS && (await this.scheduler.step()); steps++);
    if (!isOver) this.faults.add("a process does not stop");
    await this.scheduler.finishTurn();
  }

  #trace(line: string): void {
    this.#observer.trace(`${this.scheduler.now().toFixed(0).padStart(8)} ${line}`);
  }

  #add(name: string, start: Start, afterMs: number, copied?: MachineDisk): void {
    const disk = createDisk(
      {
        commitMs: () => this.#random.next() * MAX_COMMIT_MS,
        fate: () => this.#fateOfCommit(machine),
        onCommitted: (db) => this.#observer.onCommitted(name, db),
        onCrash: () => this.#kill(machine, machine.downMs, "is killed at a commit"),
      },
      copied?.secrets(),
    );
    const machine: Machine = {
      ...{ name, disk, start, process: null, isInvited: false, hasLeft: false },
      ...{ dateOffset: 0, starts: 0, commitFate: null, downMs: 0, fullUntil: 0 },
    };
    this.#machines.set(name, machine);
    this.scheduler.after(afterMs, () => this.#start(machine));
  }

  #start(machine: Machine): void {
    if (machine.process || machine.hasLeft || this.#isStopping) return;
    const { name } = machine;
    machine.starts++;
    if (machine.starts > MAX_STARTS) return void this.faults.add(`${name} was started ${MAX_STARTS} times`);
    this.#trace(`${name} starts`);
    const onThrow = (thrown: unknown): void => {
      if (machine.process === process) this.#end(machine, thrown);
    };
    const clock = processClock(this.scheduler, () => machine.dateOffset, onThrow);
    const [network, disk] = [this.#network.forProcess(name, clock), machine.disk.forProcess(clock)];
    const killed = Promise.withResolvers<void>();
    const kill = (): void => {
      for (const one of [clock, network, disk]) one.stop();
      killed.resolve();
    };
    const load = (): Load => ({
      ...{ timers: clock.timers(), connections: network.connections(), commits: disk.waiting() },
    });
    const process: Process = { clock, kill, load, killed: killed.promise, agent: null };
    machine.process = process;
    const say = (line: string): void => this.#trace(`${name}: ${line}`);
    const ids = seededIds(`${this.#plan.seed}/${name}/${machine.starts}`);
    const self: AgentProcess = {
      ...{ log: openLog(null, name), say, warn: say, report: () => {} },
      ...{ clock, ids, network, disk },
    };
    machine.start(self).then((agent) => {
      process.agent = agent;
    }, onThrow);
  }

  /** Ends a process after an error and starts it again, as `league run` does. */
  #end(machine: Machine, thrown: unknown): void {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    if (!isExpected(thrown)) this.faults.add(`${machine.name}: ${text}`);
    this.#kill(machine, RESTART_MS, `ends: ${text.split("\n")[0]}`);
  }

  #kill(machine: Machine, downMs: number, reason: string): void {
    const { process } = machine;
    if (!process) return;
    this.#trace(`${machine.name} ${reason}`);
    machine.process = null;
    process.kill();
    this.scheduler.after(downMs, () => this.#start(machine));
  }

  #setDate(machine: Machine, byMs: number, until: number): void {
    machine.dateOffset += byMs;
    if (this.scheduler.now() + DATE_CHANGE_INTERVAL_MS <= until) {
      this.scheduler.after(DATE_CHANGE_INTERVAL_MS, () => this.#setDate(machine, -byMs, until));
    }
  }

  #leave(machine: Machine): void {
    machine.hasLeft = true;
    const { process } = machine;
    const stopped = Promise.race([process?.agent?.stop(), process?.killed]);
    void stopped.then(() => this.#kill(machine, 0, "has left"));
  }

  #copy({ name, disk }: Machine): void {
    const copy = copyName(name);
    if (!this.#machines.has(copy)) this.#add(copy, copyOf(this.#plan, name), 0, disk);
  }

  #fateOfCommit(machine: Machine): CommitFate {
    if (this.scheduler.now() < machine.fullUntil) return "disk full";
    const fate = machine.commitFate ?? "written";
    machine.commitFate = null;
    return fate;
  }

  #disturb(one: Disturbance): void {
    const machine = "machine" in one ? this.#machines.get(one.machine) : undefined;
    if ((one.type === "leave" || one.type === "copy") && machine?.isInvited === false) {
      this.scheduler.after(INVITATION_POLL_MS, () => this.#disturb(one));
      return;
    }
    this.#trace(JSON.stringify(one));
    if (!machine) return;
    if (one.type === "leave") this.#leave(machine);
    if (one.type === "copy") this.#copy(machine);
    if (one.type === "crash") this.#kill(machine, one.downMs, "is killed");
    if (one.type === "clock set") this.#setDate(machine, one.byMs, one.at + one.ms);
    if (one.type === "disk full") machine.fullUntil = one.at + one.ms;
    if (one.type !== "crash at commit") return;
    machine.commitFate = one.isCommitted ? "written before a crash" : "lost in a crash";
    machine.downMs = one.downMs;
  }
}
