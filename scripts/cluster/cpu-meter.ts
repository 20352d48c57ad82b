import { type ProcessEntry, processTable, withDescendants } from "../bench/process.ts";

/** Processes that are measured together, e.g. all managers. `roots` returns the ids of those that run now; their descendants count too. */
export interface MeteredGroup {
  readonly name: string;
  readonly roots: () => Iterable<number>;
}

/**
 * Adds up the processor time of groups of processes that end and are started again. The time of a process that ended since the last sample is not
 * known, so a sample is taken before a process is killed.
 */
export class CpuMeter {
  readonly #groups: readonly MeteredGroup[];
  /** The microseconds of each process so far, by group and process. */
  readonly #seen = new Map<string, Map<string, number>>();

  constructor(groups: readonly MeteredGroup[]) {
    this.#groups = groups;
    for (const { name } of groups) this.#seen.set(name, new Map());
  }

  /** Reads the processor times of all processes. */
  sample(): void {
    const processes = processTable();
    for (const { name, roots } of this.#groups) {
      const seen = this.#seen.get(name);
      for (const root of roots()) {
        const entry = processes.get(root);
        if (entry) seen?.set(`${root} ${entry.startedAt}`, cpuOfTree(entry, processes));
      }
    }
  }

  /** Takes a sample and returns the microseconds of each group so far, by name. */
  totals(): Readonly<Record<string, number>> {
    this.sample();
    return Object.fromEntries(
      this.#groups.map(({ name }) => [name, [...(this.#seen.get(name)?.values() ?? [])].reduce((a, b) => a + b, 0)]),
    );
  }
}

function cpuOfTree({ pid }: ProcessEntry, processes: ReadonlyMap<number, ProcessEntry>): number {
  const tree = withDescendants(pid, processes).map((id) => processes.get(id));
  return tree.reduce((sum, entry) => sum + (entry ? entry.cpu + entry.cpuOfEnded : 0), 0);
}
