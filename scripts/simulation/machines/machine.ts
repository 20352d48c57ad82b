import type { RunningAgent } from "#shared/runtime/agent.ts";
import type { Start } from "../agents.ts";
import type { ProcessClock } from "./clock.ts";
import type { CommitFate, MachineDisk } from "./disk.ts";

/** A machine with its disk, and the process that runs on it now. */
export interface Machine {
  readonly name: string;
  readonly disk: MachineDisk;
  readonly start: Start;
  process: Process | null;
  /** The difference between its date and the virtual time, ms. */
  dateOffset: number;
  starts: number;
  /** Whether its player has got an invitation. */
  isInvited: boolean;
  hasLeft: boolean;
  /** How its next commit ends, if a disturbance has decided that, and how long it is down then. */
  commitFate: CommitFate | null;
  downMs: number;
  /** Its disk takes nothing before this time. */
  fullUntil: number;
}

/** What a process has open at one moment. */
export interface Load {
  readonly timers: number;
  readonly connections: number;
  /** Commits that wait for the disk. */
  readonly commits: number;
}

export interface Process {
  readonly clock: ProcessClock;
  readonly kill: () => void;
  readonly load: () => Load;
  readonly killed: Promise<void>;
  agent: RunningAgent | null;
}

/** What a process has open if it does nothing. */
const NOTHING: Load = { timers: 0, connections: 0, commits: 0 };

/**
 * The faults of a machine whose process has too much open for the number of agents. The bounds are about half as much again as the most that was
 * seen in 2,000 runs and in a league of 20 players.
 */
export function faultsOfLoad({ name, process }: Machine, agents: number): readonly string[] {
  const load = process?.load() ?? NOTHING;
  const most: Load = { timers: 25 + 3 * agents, connections: 25 + 2 * agents, commits: 8 };
  return (["timers", "connections", "commits"] as const).flatMap((kind) =>
    load[kind] > most[kind] ? [`${name} has more than ${most[kind]} ${kind}`] : [],
  );
}
