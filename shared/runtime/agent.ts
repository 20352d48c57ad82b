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
import { released } from "./process/held.ts";
import { type Logger, openLog } from "./process/logger.ts";
import { endWithNpm } from "./process/parent-watchdog.ts";

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
  // What agents write holds seeds and sealed choices: it is not for the other users of the machine.
  process.umask(0o077);
  const log = openOwnLog(name, dataFolder);
  const underParent = process.send !== undefined;
  const write = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const self: AgentProcess = {
    log,
    say(line) {
      log.info(line);
      if (!underParent) write(`${name}: ${line}`);
    },
    warn(line) {
      log.warn(line);
      write(underParent ? line : `${name}: ${line}`);
    },
    report(report) {
      if (process.connected) process.send?.(report);
    },
    clock: systemClock,
    ids: systemIds,
    network: httpNetwork(systemClock),
    disk: systemDisk(systemClock),
  };

  let running: RunningAgent | null = null;
  let stopping = false;
  let isEnding = false;
  const end = (code: number): void => {
    isEnding = true;
    void log.flushed(systemClock).then(() => process.exit(code));
  };
  const stop = async (code: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    try {
      await running?.stop();
    } catch (thrown) {
      log.error({ err: thrown }, "could not stop cleanly");
    }
    self.say("stopped");
    end(code);
  };
  let signals = 0;
  const onSignal = (code: number): void => {
    signals++;
    if (signals > 1) process.exit(EXIT.interrupted);
    void stop(code);
  };
  endWithNpm();
  process.on("SIGINT", () => onSignal(EXIT.interrupted));
  process.on("SIGTERM", () => onSignal(EXIT.ok));
  process.on("disconnect", () => void stop(EXIT.ok));
  const crash = (thrown: unknown): void => {
    if (isEnding) return;
    if (thrown instanceof StoreLost) self.report({ type: "cannot_go_on" });
    if (thrown instanceof StartError) {
      write(underParent ? thrown.message : `${name}: ${thrown.message}`);
      end(thrown.exitCode);
      return;
    }
    log.fatal({ err: thrown }, "crashed");
    // While it starts, a file that cannot be used is no fault of the program; later the place in the code is needed.
    const fault = running === null ? fileFault(thrown) : null;
    if (fault !== null) write(underParent ? fault : `${name}: ${fault}`);
    else write(`${name}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
    end(EXIT.failed);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);

  try {
    await released();
    running = await start(self);
    void running.ended?.then(() => stop(EXIT.ok));
  } catch (thrown) {
    crash(thrown);
  }
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
