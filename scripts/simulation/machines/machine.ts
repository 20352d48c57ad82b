import type { RunningAgent } from "#shared/runtime/agent.ts";
import type { Start } from "../agents.ts";
import type { Disturbance } from "../plan.ts";
import type { ProcessClock } from "./clock.ts";
import type { CommitFate, MachineDisk } from "./disk.ts";
import type { SimulatedNetwork } from "./network.ts";

/** A machine with its disk and its running process. */
export interface Machine {
  readonly name: string;
  readonly disk: MachineDisk;
  readonly start: Start;
  process: Process | null;
  /** The difference between the machine's date and the virtual time, in ms. */
  dateOffset: number;
  /** The number of starts of its process. */
  starts: number;
  /** True after the player has received an invitation. */
  isInvited: boolean;
  hasLeft: boolean;
  /** True after the player has said that it is registered. */
  isRegistered: boolean;
  /** The fate of the next commit, if a disturbance has set it. */
  commitFate: CommitFate | null;
  /** The crashes at messages that have not happened yet, with the number of messages that were received. */
  readonly messageCrashes: Set<MessageCrash>;
  /** The time until the restart after a crash at a commit. */
  downMs: number;
  /** The process is stopped until this virtual time. */
  stoppedUntil: number;
  /** The disk is full until this virtual time. */
  fullUntil: number;
}

type MessageCrash = Extract<Disturbance, { type: "crash at message" }> & { received?: number };

export const newMachine = (name: string, disk: MachineDisk, start: Start): Machine => ({
  name,
  disk,
  start,
  process: null,
  isInvited: false,
  hasLeft: false,
  isRegistered: false,
  messageCrashes: new Set(),
  dateOffset: 0,
  starts: 0,
  commitFate: null,
  downMs: 0,
  fullUntil: 0,
  stoppedUntil: 0,
});

/** Sets the condition of a machine that a disturbance causes and that ends by itself. Other disturbances change nothing here. */
export function setCondition(machine: Machine, one: Disturbance): void {
  if (one.type === "stop") machine.stoppedUntil = Math.max(machine.stoppedUntil, one.at + one.ms);
  if (one.type === "crash at message") machine.messageCrashes.add({ ...one });
  if (one.type === "disk full") machine.fullUntil = one.at + one.ms;
  if (one.type !== "crash at commit") return;
  machine.commitFate = one.isCommitted ? "written before a crash" : "lost in a crash";
  machine.downMs = one.downMs;
}

/** Returns the crashes that the arrival of a message causes. */
export function crashesAt({ messageCrashes }: Machine, body: string): readonly MessageCrash[] {
  return [...messageCrashes].filter((one) => {
    if (!body.includes(`"${one.message}"`)) return false;
    one.received = (one.received ?? 0) + 1;
    return one.received >= one.count && messageCrashes.delete(one);
  });
}

/** The fate of the next commit to the disk of a machine. A fate that a disturbance has set is that of one commit. */
export function nextCommitFate(machine: Machine, now: number): CommitFate {
  if (now < machine.fullUntil) return "disk full";
  const fate = machine.commitFate ?? "written";
  machine.commitFate = null;
  return fate;
}

/** The open resources of a process. */
export interface Load {
  readonly timers: number;
  readonly connections: number;
  /** The number of pending commits. */
  readonly commits: number;
}

/** A simulated process. */
interface Process {
  readonly clock: ProcessClock;
  readonly kill: () => void;
  readonly load: () => Load;
  /** Resolves when the process is killed. */
  readonly killed: Promise<void>;
  /** The agent; null while it starts. */
  agent: RunningAgent | null;
}

/** Creates a process with its clock, network and disk. `onKill` is called when it is killed. */
export function newProcess(
  {
    clock,
    network,
    disk,
  }: {
    readonly clock: ProcessClock;
    readonly network: ReturnType<SimulatedNetwork["forProcess"]>;
    readonly disk: ReturnType<MachineDisk["forProcess"]>;
  },
  onKill: () => void,
): Process {
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  const kill = (): void => {
    for (const one of [clock, network, disk]) one.stop();
    onKill();
    resolve();
  };
  const load = (): Load => ({
    timers: clock.timers(),
    connections: network.connections(),
    commits: disk.waiting(),
  });
  return { clock, kill, load, killed, agent: null };
}
