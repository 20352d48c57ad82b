import { createRandom, type Random } from "#shared/lib/rng.ts";
import { managerName, refereeName, sleep, untilReady } from "./agents.ts";
import type { Cluster } from "./cluster-run.ts";

/** A fault that was injected. */
export interface InjectedFault {
  readonly kind: FaultKind;
  readonly target: string;
  /** The number of completed matches when it began. */
  readonly atMatches: number;
  /** The time from its begin until its target was ready again, or all managers after a fault of the database. */
  readonly healedAfterMs: number;
}

/** The duration of a cut and of a stop. */
const OUTAGE_MS = 10_000;
/** The database is started again after this time. */
const DATABASE_AWAY_MS = 500;
/** The longest time from the end of a fault until its target is ready. */
const RECOVERY_MS = 90_000;

/** Injects the faults of a plan into a running cluster, each when its number of matches is completed. */
export class FaultInjector {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #log: (line: string) => void;
  /** The faults that have not healed, by target. */
  readonly #open = new Map<string, Promise<void>>();
  /** Rejects with the first failure. */
  readonly #failed = Promise.withResolvers<never>();
  readonly injected: InjectedFault[] = [];

  constructor(cluster: Cluster, random: Random, log: (line: string) => void) {
    this.#cluster = cluster;
    this.#random = random;
    this.#log = log;
    this.#failed.promise.catch(() => {});
  }

  /** Resolves when all faults of the plan have healed. Rejects if a target does not become ready again. */
  async inject(plan: readonly PlannedFault[]): Promise<void> {
    for (const { kind, afterMatches } of plan) {
      await this.#orFailure(this.#cluster.progress.reached(afterMatches));
      const target = await this.#freeTarget(kind);
      const healing = this.#injectOne(kind, target).finally(() => this.#open.delete(target));
      healing.catch((thrown) => this.#failed.reject(thrown));
      this.#open.set(target, healing);
    }
    await this.#orFailure(Promise.all(this.#open.values()));
  }

  #orFailure<T>(step: Promise<T>): Promise<T> {
    return Promise.race([step, this.#failed.promise]);
  }

  /** Returns a random target without an open fault. Waits if there is none: one manager at least remains without a fault. */
  async #freeTarget(kind: FaultKind): Promise<string> {
    for (;;) {
      const all = this.#targetsOf(kind);
      const free = all.filter((target) => !this.#open.has(target));
      const needed = kind === "kill the database" || kind === "kill a referee" || all.length === 1 ? 1 : 2;
      if (free.length >= needed) return this.#random.pick(free);
      await this.#orFailure(Promise.race(this.#open.values()));
    }
  }

  #targetsOf(kind: FaultKind): readonly string[] {
    const { managers, refereePorts } = this.#cluster.agents;
    if (kind === "kill the database") return ["the database"];
    return kind === "kill a referee"
      ? refereePorts.map((_, i) => refereeName(i))
      : managers.map((_, i) => managerName(i));
  }

  async #injectOne(kind: FaultKind, target: string): Promise<void> {
    const startedAt = performance.now();
    const atMatches = this.#cluster.progress.matches;
    this.#log(`${atMatches} matches: ${kind === "kill the database" ? kind : `${kind}: ${target}`}`);
    this.#cluster.cpu.sample();
    await this.#perform(kind, target);
    for (const port of this.#portsOf(target)) {
      if (await untilReady(port, RECOVERY_MS)) continue;
      throw new Error(`${target} was not ready ${RECOVERY_MS / 1_000} s after the fault "${kind}"`);
    }
    this.injected.push({ kind, target, atMatches, healedAfterMs: Math.round(performance.now() - startedAt) });
  }

  async #perform(kind: FaultKind, target: string): Promise<void> {
    const { database, forwarders, agents } = this.#cluster;
    switch (kind) {
      case "kill a manager":
      case "kill a referee":
        this.#signal(target, "SIGKILL");
        return;
      case "kill the database":
        await database?.kill();
        await sleep(DATABASE_AWAY_MS);
        return database?.restart();
      case "cut a manager from the database": {
        const forwarder = forwarders[agents.managers.findIndex((_, index) => managerName(index) === target)];
        forwarder?.cut();
        await sleep(OUTAGE_MS);
        return forwarder?.restore();
      }
      case "stop a manager":
        return this.#stop(target);
    }
  }

  async #stop(target: string): Promise<void> {
    const pid = this.#signal(target, "SIGSTOP");
    const resume = (): void => void process.kill(pid, "SIGCONT");
    // A stopped process would not notice that this process has ended.
    process.once("exit", resume);
    await sleep(OUTAGE_MS);
    process.off("exit", resume);
    resume();
  }

  /** Sends a signal to a target. Returns its process id. Throws if it is not running, because the fault would then be none. */
  #signal(target: string, signal: NodeJS.Signals): number {
    const pid = this.#cluster.pidOf(target);
    if (pid === undefined) throw new Error(`${target} is not running, so it cannot receive ${signal}`);
    process.kill(pid, signal);
    return pid;
  }

  /** Returns the ports of the servers that must be ready after a fault of a target. */
  #portsOf(target: string): readonly number[] {
    const { managers, refereePorts } = this.#cluster.agents;
    const referee = refereePorts.find((_, index) => refereeName(index) === target);
    if (referee !== undefined) return [referee];
    return managers.flatMap(({ port }, index) => {
      const name = managerName(index);
      return name === target || (target === "the database" && !this.#open.has(name)) ? [port] : [];
    });
  }
}

export const FAULT_KINDS = [
  "kill a manager",
  "kill a referee",
  "kill the database",
  "cut a manager from the database",
  "stop a manager",
] as const;
type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault that is injected when a number of matches is completed, so that every fault occurs while matches are played. */
interface PlannedFault {
  readonly kind: FaultKind;
  readonly afterMatches: number;
}

/** One fault for this number of matches, on average. */
const MATCHES_PER_FAULT = 250;
/** The share of the matches before the first and after the last fault. */
const MARGIN = 0.05;

/**
 * Returns the faults of a run in their order. Each five faults in a row are of different kinds, in random order. A short run has each kind once.
 * The numbers of matches between two faults vary.
 */
export function planFaults(matches: number, seed: string): readonly PlannedFault[] {
  const random = createRandom(`${seed}/faults`);
  const count = Math.max(FAULT_KINDS.length, Math.floor(matches / MATCHES_PER_FAULT));
  const blocks = Array.from({ length: Math.ceil(count / FAULT_KINDS.length) }, () => random.shuffle(FAULT_KINDS));
  const slot = (matches * (1 - 2 * MARGIN)) / count;
  return blocks
    .flat()
    .slice(0, count)
    .map((kind, index) => ({
      kind,
      afterMatches: Math.floor(matches * MARGIN + slot * (index + random.next())),
    }));
}
