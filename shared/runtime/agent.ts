import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type Ids, systemIds } from "../lib/ids.ts";
import { messageOf } from "../lib/result.ts";
import { httpNetwork, type Network } from "../rpc/network.ts";
import { type Disk, systemDisk } from "./files/disk.ts";
import { fileNameOf } from "./files/file-name.ts";
import type { AgentReport } from "./process/agent-report.ts";
import { EXIT, fileFault, StartError, StoreLost } from "./process/exit.ts";
import { type Logger, openLog } from "./process/logger.ts";
import { endWithNpm } from "./process/parent-watchdog.ts";
import { startGateOpened } from "./process/start-gate.ts";

/** The process around an agent: its log, its output, and the clock, randomness, network and disk for the agent. */
export interface AgentProcess {
  readonly log: Logger;
  /** A line for the person at the terminal, on stderr; silent under a parent that shows its own progress. */
  say(line: string): void;
  /** A line that is shown even then. */
  warn(line: string): void;
  report(report: AgentReport): void;
  readonly clock: Clock;
  /** Random tokens and ids for the agent. */
  readonly ids: Ids;
  readonly network: Network;
  readonly disk: Disk;
}

export interface RunningAgent {
  /** Resolves when there is nothing more to do: the process then stops by itself. */
  readonly ended?: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs an agent as this process: starts it, stops it cleanly on SIGINT, SIGTERM or when the parent is gone, and turns errors
 * into one line and an exit code. A second signal ends the process at once. Without a data folder nothing is logged.
 */
export async function runAgentProcess(
  name: string,
  dataFolder: string | null,
  start: (self: AgentProcess) => Promise<RunningAgent>,
): Promise<void> {
  keepRequestsYoung();
  // The files of agents hold seeds and sealed choices: other users of the machine must not read them.
  process.umask(0o077);
  const log = openOwnLog(name, dataFolder);
  const life: Life = { name, log, self: agentProcess(name, log), running: null, isStopping: false, isEnding: false };
  endWithNpm();
  stopOnSignals(life);
  process.on("uncaughtException", (thrown) => crash(life, thrown));
  process.on("unhandledRejection", (thrown) => crash(life, thrown));
  try {
    await startGateOpened();
    life.running = await start(life.self);
    void life.running.ended?.then(() => stop(life, EXIT.ok));
  } catch (thrown) {
    crash(life, thrown);
  }
}

/** The agent of this process, from its start to its end. */
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

/** A parent shows lines with the name of their agent, so the agent names itself only without one. */
const named = (name: string, line: string): string => (isUnderParent() ? line : `${name}: ${line}`);

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
      write(named(name, line));
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
  const onSignal = (code: number): void => {
    signals++;
    if (signals > 1) process.exit(EXIT.interrupted);
    void stop(life, code);
  };
  process.on("SIGINT", () => onSignal(EXIT.interrupted));
  process.on("SIGTERM", () => onSignal(EXIT.ok));
  process.on("disconnect", () => void stop(life, EXIT.ok));
}

async function stop(life: Life, code: number): Promise<void> {
  if (life.isStopping) return;
  life.isStopping = true;
  try {
    await life.running?.stop();
  } catch (thrown) {
    life.log.error({ err: thrown }, "could not stop cleanly");
  }
  life.self.say("stopped");
  end(life, code);
}

/** Ends the process with one line about an error: a stack trace only for errors of the program itself. */
function crash(life: Life, thrown: unknown): void {
  if (life.isEnding) return;
  const { name, log } = life;
  if (thrown instanceof StoreLost) life.self.report({ type: "cannot_go_on" });
  if (thrown instanceof StartError) {
    write(named(name, thrown.message));
    end(life, thrown.exitCode);
    return;
  }
  log.fatal({ err: thrown }, "crashed");
  // While the agent starts, a file that cannot be used is no fault of the program. Later the place in the code is needed.
  const fault = life.running === null ? fileFault(thrown) : null;
  if (fault !== null) write(named(name, fault));
  else write(`${name}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  end(life, EXIT.failed);
}

function end(life: Life, code: number): void {
  life.isEnding = true;
  void life.log.flushed(systemClock).then(() => process.exit(code));
}

/**
 * V8 watches the first objects that each place in the code allocates. If they live long, it allocates the later ones in the old generation. Many
 * requests at once right after the start mislead it about objects of one request, and then each later request needs a fifth more CPU
 * (docs/performance.md).
 */
function keepRequestsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/** Opens the log; a folder that cannot be written ends the process with one line. */
function openOwnLog(name: string, dataFolder: string | null): ReturnType<typeof openLog> {
  try {
    return openLog(dataFolder === null ? null : join(dataFolder, "logs", `${fileNameOf(name)}.log`), name);
  } catch (thrown) {
    process.stderr.write(`${name}: ${fileFault(thrown) ?? `cannot write to ${dataFolder}: ${messageOf(thrown)}`}\n`);
    process.exit(EXIT.failed);
  }
}
