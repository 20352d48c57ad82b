import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { StartError } from "#shared/runtime/exit.ts";
import { openLog } from "#shared/runtime/logger.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { agentsOf, type Start, seededIds } from "./agents.ts";
import { type ProcessClock, processClock } from "./clock.ts";
import type { Passed } from "./connection.ts";
import { type CommitFate, createDisk, DiskFull, type MachineDisk } from "./disk.ts";
import { fatesOf } from "./fates.ts";
import { createNetwork, type SimulatedNetwork } from "./network.ts";
import type { Disturbance, Plan } from "./plan.ts";
import { createScheduler, settled } from "./scheduler.ts";

/** All processes are started in this time. */
const START_MS = 1_000;
/** A process that ended by itself is started again after this time. */
const RESTART_MS = 300;
/** More starts of one process mean that it cannot run. */
const MAX_STARTS = 100;
const MAX_COMMIT_MS = 5;
/** A process that has not stopped after so many steps does not stop. */
const MAX_STOP_STEPS = 100_000;

/** What a run shows to those who check it. */
export interface Observer {
  onRequest(passed: Passed): void;
  onAnswer(passed: Passed, reply: string): void;
  /** A machine has committed to its database. Its process does not know that yet. */
  onCommitted(machine: string, db: Database): void;
  trace(line: string): void;
}

/** A machine with its disk, and the process that runs on it now. */
interface Machine {
  readonly name: string;
  readonly disk: MachineDisk;
  readonly start: Start;
  process: Process | null;
  /** The difference between its date and the virtual time, ms. */
  dateOffset: number;
  starts: number;
  /** How its next commit ends, if a disturbance has decided that, and how long it is down then. */
  commitFate: CommitFate | null;
  downMs: number;
  /** Its disk takes nothing before this time. */
  fullUntil: number;
}

interface Process {
  readonly clock: ProcessClock;
  readonly kill: () => void;
  readonly killed: Promise<void>;
  agent: RunningAgent | null;
}

/** An error that a program ends with by design. */
export const isExpected = (thrown: unknown): boolean => thrown instanceof StartError || thrown instanceof DiskFull;

/** The machines of a plan under virtual time. The production code runs on simulated clocks, ids, disks and one simulated network. */
export class World {
  readonly scheduler = createScheduler();
  /** Errors that nothing caught. */
  readonly faults: string[] = [];
  readonly #plan: Plan;
  readonly #observer: Observer;
  readonly #random: Random;
  readonly #network: SimulatedNetwork;
  readonly #machines = new Map<string, Machine>();
  #isStopping = false;

  constructor(plan: Plan, observer: Observer) {
    this.#plan = plan;
    this.#observer = observer;
    this.#random = createRandom(`${plan.seed}/run`);
    const { scheduler } = this;
    const fateOf = fatesOf(plan, scheduler.now, this.#random);
    this.#network = createNetwork({ scheduler, fateOf, onRequest: observer.onRequest, onAnswer: observer.onAnswer });
    for (const [name, start] of agentsOf(plan)) this.#add(name, start);
    for (const one of plan.disturbances) scheduler.after(one.at, () => this.#disturb(one));
  }

  databasesOf(machine: string): ReadonlyMap<string, Database> {
    return this.#machines.get(machine)?.disk.databases() ?? new Map();
  }

  /** How many timers the processes have set. */
  timers(): number {
    return [...this.#machines.values()].reduce((sum, { process }) => sum + (process?.clock.timers() ?? 0), 0);
  }

  /** Stops every process as a signal does. */
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
    if (!isOver) this.faults.push("a process does not stop");
    await this.scheduler.finishTurn();
  }

  #trace(line: string): void {
    this.#observer.trace(`${this.scheduler.now().toFixed(0).padStart(8)} ${line}`);
  }

  #add(name: string, start: Start): void {
    const disk = createDisk({
      commitMs: () => this.#random.next() * MAX_COMMIT_MS,
      fate: () => this.#fateOfCommit(machine),
      onCommitted: (db) => this.#observer.onCommitted(name, db),
      onCrash: () => this.#kill(machine, machine.downMs, "is killed at a commit"),
    });
    const machine: Machine = {
      ...{ name, disk, start, process: null },
      ...{ dateOffset: 0, starts: 0, commitFate: null, downMs: 0, fullUntil: 0 },
    };
    this.#machines.set(name, machine);
    this.scheduler.after(this.#random.next() * START_MS, () => this.#start(machine));
  }

  #start(machine: Machine): void {
    if (machine.process || this.#isStopping) return;
    const { name } = machine;
    machine.starts++;
    if (machine.starts > MAX_STARTS) return void this.faults.push(`${name} was started ${MAX_STARTS} times`);
    this.#trace(`${name} starts`);
    const onThrow = (thrown: unknown): void => {
      if (machine.process === process) this.#end(machine, thrown);
    };
    const clock = processClock(this.scheduler, () => machine.dateOffset, onThrow);
    const [network, disk] = [this.#network.of(name, clock), machine.disk.of(clock)];
    const killed = Promise.withResolvers<void>();
    const kill = (): void => {
      for (const one of [clock, network, disk]) one.stop();
      killed.resolve();
    };
    const process: Process = { clock, kill, killed: killed.promise, agent: null };
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

  /** A process ends by an error, and is started again as by the command that runs it. */
  #end(machine: Machine, thrown: unknown): void {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    if (!isExpected(thrown)) this.faults.push(`${machine.name}: ${text}`);
    this.#kill(machine, RESTART_MS, `ends: ${text.split("\n")[0]}`);
  }

  #kill(machine: Machine, downMs: number, why: string): void {
    const { process } = machine;
    if (!process) return;
    this.#trace(`${machine.name} ${why}`);
    machine.process = null;
    process.kill();
    this.scheduler.after(downMs, () => this.#start(machine));
  }

  #fateOfCommit(machine: Machine): CommitFate {
    if (this.scheduler.now() < machine.fullUntil) return "disk full";
    const fate = machine.commitFate ?? "written";
    machine.commitFate = null;
    return fate;
  }

  #disturb(one: Disturbance): void {
    this.#trace(JSON.stringify(one));
    const machine = "machine" in one ? this.#machines.get(one.machine) : undefined;
    if (!machine) return;
    if (one.type === "crash") this.#kill(machine, one.downMs, "is killed");
    if (one.type === "clock set") machine.dateOffset += one.byMs;
    if (one.type === "disk full") machine.fullUntil = one.at + one.ms;
    if (one.type !== "crash at commit") return;
    machine.commitFate = one.isCommitted ? "written before a crash" : "lost in a crash";
    machine.downMs = one.downMs;
  }
}
