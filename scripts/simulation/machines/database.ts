import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { Database } from "#shared/store/sqlite.ts";
import type { CommitFate, ModelLink } from "../../../league-manager/shared-run/testing/model-connection.ts";
import { type ModelDatabase, modelDatabase } from "../../../league-manager/shared-run/testing/model-database.ts";
import { ModelServer } from "../../../league-manager/shared-run/testing/model-server.ts";
import type { Disturbance, Plan } from "../plan.ts";
import { START_MS } from "./clock.ts";
import type { Machine } from "./machine.ts";
import { DATABASE } from "./names.ts";
import type { Scheduler } from "./scheduler.ts";

interface DatabaseOptions {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly onCommitted: (db: Database) => void;
  readonly machineOf: (name: string) => Machine | undefined;
  /** Kills the process of a machine. */
  readonly onCrash: (machine: Machine) => void;
}

/** The maximum delay of a message without disturbances. */
const MAX_DELAY_MS = 5;
const FAULTS: readonly CommitFate[] = ["rolled back", "lost before", "lost after", "lost and made late"];

/** The machine of the database that several managers share, with the disturbances of a plan. */
export class SimulatedDatabase {
  readonly server: ModelServer;
  readonly #options: DatabaseOptions;
  readonly #random: Random;
  readonly #connections = new Map<string, ModelDatabase>();

  constructor(options: DatabaseOptions) {
    const { plan, scheduler, onCommitted } = options;
    this.#options = options;
    this.#random = createRandom(`${plan.seed}/database`);
    this.server = new ModelServer(
      { now: () => START_MS + scheduler.now(), monotonic: scheduler.now, after: scheduler.after },
      () => onCommitted(this.server.db),
    );
  }

  /** Connects a process of a machine, whose former process has ended. */
  connect(machine: string, { clock }: { readonly clock: Clock }): ModelDatabase {
    const database = modelDatabase(this.server, this.#linkOf(machine), clock);
    this.#connections.set(machine, database);
    return database;
  }

  /** Ends the connections of a machine whose process was killed. */
  end(machine: string): void {
    this.#connections.get(machine)?.end();
    this.#connections.delete(machine);
  }

  /** Breaks the connections of the machines that a disturbance separates from the database now. */
  separate({ between }: Extract<Disturbance, { type: "partition" }>): void {
    for (const machine of between) if (between.includes(DATABASE)) this.#connections.get(machine)?.break();
  }

  crash(downMs: number): void {
    this.server.stop();
    this.#options.scheduler.after(downMs, () => this.server.start());
  }

  #linkOf(machine: string): ModelLink {
    const { scheduler, plan } = this.#options;
    const random = this.#random;
    const current = (): readonly Disturbance[] =>
      plan.disturbances.filter((one) => "ms" in one && one.at <= scheduler.now() && scheduler.now() < one.at + one.ms);
    const partitions = () =>
      current().flatMap((one) => {
        const isHere = one.type === "partition" && one.between.includes(machine) && one.between.includes(DATABASE);
        return isHere ? [one] : [];
      });
    const isOf = (one: Disturbance): boolean =>
      "machine" in one && (one.machine === machine || one.machine === DATABASE);
    return {
      latencyMs: () =>
        current().reduce(
          (ms, one) => (one.type === "slow" && isOf(one) ? ms + random.next() * one.delayMs : ms),
          random.next() ** 4 * MAX_DELAY_MS,
        ),
      isRefused: () => partitions().some(({ isSilent }) => !isSilent),
      silentUntil: () => Math.max(0, ...partitions().map(({ isSilent, at, ms }) => (isSilent ? at + ms : 0))),
      commitFate: () => {
        const crash = this.#crashAtCommit(machine);
        if (crash) return crash;
        const isFaulty = current().some(
          (one) => (one.type === "commit faults" || one.type === "lossy") && isOf(one) && random.next() < one.share,
        );
        return isFaulty ? random.pick(FAULTS) : "made";
      },
    };
  }

  /** Kills the process of a machine if a disturbance has set the fate of its next commit. Returns the fate of the commit, or null. */
  #crashAtCommit(name: string): CommitFate | null {
    const { scheduler, machineOf, onCrash } = this.#options;
    const machine = machineOf(name);
    if (!machine?.commitFate) return null;
    const isCommitted = machine.commitFate === "written before a crash";
    machine.commitFate = null;
    scheduler.after(0, () => onCrash(machine));
    return isCommitted ? "lost after" : "lost before";
  }
}
