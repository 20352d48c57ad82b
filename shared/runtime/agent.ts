import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type Ids, systemIds } from "../lib/ids.ts";
import { messageOf } from "../lib/result.ts";
import { httpNetwork, type Network } from "../rpc/network.ts";
import { type Disk, systemDisk } from "./files/disk.ts";
import { fileNameOf } from "./files/file-name.ts";
import { EXIT, fileFault, StartError, StoreLost } from "./process/exit.ts";
import { type Logger, openLog } from "./process/logger.ts";
import { type AgentReport, waitForStartGate } from "./process/parent-process.ts";
import { endWithNpm } from "./process/parent-watchdog.ts";

/**
 * The process of an agent: its log, its output, and the clock, the random numbers, the network and the disk that the
 * agent uses.
 */
export interface AgentProcess {
  readonly log: Logger;
  /**
   * Logs a line and writes it to stderr for the person at the terminal. Under a parent process, which shows its own
   * progress, the line is only logged.
   */
  say(line: string): void;
  /** Logs a line and always writes it to stderr. */
  warn(line: string): void;
  /** Sends a report to the parent process, if there is one. */
  report(report: AgentReport): void;
  readonly clock: Clock;
  /** Random tokens and ids for the agent. */
  readonly ids: Ids;
  readonly network: Network;
  readonly disk: Disk;
}

export interface RunningAgent {
  /** Resolves when the agent has nothing more to do. The process then stops. */
  readonly ended?: Promise<void>;
  /** Tells other agents that this one ends for good. Called before `stop` after SIGTERM, unless a parent process manages the agent. */
  leave?(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs an agent in this process. Stops it cleanly on SIGINT, on SIGTERM, and when the parent process has ended, and
 * turns an error into one line and an exit code. A second signal ends the process immediately. Without a data folder no
 * log file is written.
 */
export async function runAgentProcess(
  name: string,
  dataFolder: string | null,
  start: (self: AgentProcess) => Promise<RunningAgent>,
): Promise<void> {
  disablePretenuring();
  // The files of agents contain seeds and secret choices. Other users of the machine must not read them.
  process.umask(0o077);
  const log = openAgentLog(name, dataFolder);
  const life: Life = { name, log, self: agentProcess(name, log), running: null, isStopping: false, isEnding: false };
  endWithNpm();
  stopOnSignals(life);
  process.on("uncaughtException", (thrown) => crash(life, thrown));
  process.on("unhandledRejection", (thrown) => crash(life, thrown));
  try {
    await waitForStartGate();
    life.running = await start(life.self);
    void life.running.ended?.then(() => stop(life, EXIT.ok));
  } catch (thrown) {
    crash(life, thrown);
  }
}

/** The state of this process's agent, from its start to its end. */
interface Life {
  readonly name: string;
  readonly log: ReturnType<typeof openLog>;
  readonly self: AgentProcess;
  /** null while the agent starts. */
  running: RunningAgent | null;
  isStopping: boolean;
  isEnding: boolean;
}

const isUnderParent = (): boolean => process.send !== undefined;

const write = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Adds the agent's name to a line. A parent process adds it itself. */
const withAgentName = (name: string, line: string): string => (isUnderParent() ? line : `${name}: ${line}`);

function agentProcess(name: string, log: Logger): AgentProcess {
  const isSilent = isUnderParent();
  return {
    log,
    say(line) {
      log.info(line);
      if (!isSilent) write(`${name}: ${line}`);
    },
    warn(line) {
      log.warn(line);
      write(withAgentName(name, line));
    },
    report(report) {
      if (process.connected) process.send?.(report);
    },
    clock: systemClock,
    ids: systemIds,
    network: httpNetwork(systemClock),
    disk: systemDisk(systemClock),
  };
}

function stopOnSignals(life: Life): void {
  let signals = 0;
  const onSignal = (code: number, isLeaving: boolean): void => {
    signals++;
    if (signals > 1) process.exit(EXIT.interrupted);
    void stop(life, code, isLeaving);
  };
  process.on("SIGINT", () => onSignal(EXIT.interrupted, false));
  process.on("SIGTERM", () => onSignal(EXIT.ok, !isUnderParent()));
  process.on("disconnect", () => void stop(life, EXIT.ok));
}

async function stop(life: Life, code: number, isLeaving = false): Promise<void> {
  if (life.isStopping) return;
  life.isStopping = true;
  try {
    if (isLeaving) await life.running?.leave?.();
    await life.running?.stop();
  } catch (thrown) {
    life.log.error({ err: thrown }, "could not stop cleanly");
  }
  life.self.say("stopped");
  end(life, code);
}

/** Ends the process with one line about an error. Only an error of the program itself has a stack trace. */
function crash(life: Life, thrown: unknown): void {
  if (life.isEnding) return;
  const { name, log } = life;
  if (thrown instanceof StoreLost) life.self.report({ type: "cannot_continue" });
  if (thrown instanceof StartError) {
    write(withAgentName(name, thrown.message));
    end(life, thrown.exitCode);
    return;
  }
  log.fatal({ err: thrown }, "crashed");
  // While the agent starts, a file that cannot be used is not a fault of the program. Later the stack trace is needed.
  const fault = life.running === null ? fileFault(thrown) : null;
  if (fault !== null) write(withAgentName(name, fault));
  else write(`${name}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  end(life, EXIT.failed);
}

function end(life: Life, code: number): void {
  life.isEnding = true;
  void life.log.flushed(systemClock).then(() => process.exit(code));
}

/**
 * Disables pretenuring in V8. V8 observes the first objects of each allocation site. If they live long, it allocates
 * the following objects of the site in the old generation. Many requests immediately after the start make the objects
 * of a request look long-lived, and each later request then needs 20 % more CPU time (docs/performance.md).
 */
function disablePretenuring(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/** Opens the log. Ends the process with one line if the folder cannot be written. */
function openAgentLog(name: string, dataFolder: string | null): ReturnType<typeof openLog> {
  try {
    return openLog(dataFolder === null ? null : join(dataFolder, "logs", `${fileNameOf(name)}.log`), name);
  } catch (thrown) {
    process.stderr.write(`${name}: ${fileFault(thrown) ?? `cannot write to ${dataFolder}: ${messageOf(thrown)}`}\n`);
    process.exit(EXIT.failed);
  }
}
