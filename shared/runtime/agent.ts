import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { messageOf } from "../lib/result.ts";
import type { Gate, HttpContext, McpDoor } from "../rpc/http.ts";
import { httpEndpoint } from "../rpc/http-endpoint.ts";
import type { McpSessions } from "../rpc/mcp-sessions.ts";
import { isWildcard, localUrl, urlsOf } from "../rpc/own-addresses.ts";
import { type RefusalLog, refusalLog } from "../rpc/refusal-log.ts";
import type { AgentReport } from "./agent-report.ts";
import { EXIT, fileFault, StartError } from "./exit.ts";
import { fileNameOf } from "./file-name.ts";
import { released } from "./held.ts";
import { type Logger, openLog } from "./logger.ts";
import { StoreLost } from "./store-file.ts";

/** The process around an agent: its log, its voice and its way out. */
export interface AgentProcess {
  readonly log: Logger;
  /** A line for the person at the terminal, on stderr; silent under a parent that shows its own progress. */
  say(line: string): void;
  /** A line that is shown even then. */
  warn(line: string): void;
  report(report: AgentReport): void;
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
  };

  let running: RunningAgent | null = null;
  let stopping = false;
  let isEnding = false;
  const end = (code: number): void => {
    isEnding = true;
    void log.flushed().then(() => process.exit(code));
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

/** Opens the log; a folder that cannot be written ends the process with one line. */
function openOwnLog(name: string, dataFolder: string | null): ReturnType<typeof openLog> {
  try {
    return openLog(dataFolder === null ? null : join(dataFolder, "logs", `${fileNameOf(name)}.log`), name);
  } catch (thrown) {
    process.stderr.write(`${name}: ${fileFault(thrown) ?? `cannot write to ${dataFolder}: ${messageOf(thrown)}`}\n`);
    process.exit(EXIT.failed);
  }
}

export interface ListenOptions {
  readonly log: Logger;
  readonly host: string;
  /** Tried in order; 0 lets the system choose. */
  readonly ports: readonly number[];
  readonly door: McpDoor;
  readonly gate?: Gate;
  readonly sessions?: () => Promise<McpSessions>;
  readonly isReady: () => boolean;
  readonly web: () => Promise<RequestListener>;
  readonly bodyLimit?: (http: HttpContext) => number;
  /** Names, besides its own, by which this agent may be called, and whose pages may call it. */
  readonly allowedHosts?: readonly string[];
}

export interface Listening {
  /** Where refused requests are logged. */
  readonly refusals: RefusalLog;
  /** How this machine calls it, e.g. `http://127.0.0.1:8001`; the endpoint is this plus `/mcp`. */
  readonly url: string;
  /** How other machines call it: one URL for each address that it listens on. */
  readonly urls: readonly string[];
  /** Whether it listens on every address of this machine. */
  readonly isOnEveryAddress: boolean;
  readonly port: number;
  close(): Promise<void>;
}

const DEFAULT_BODY_BYTES = 256 * 1024;
/** How long a stopping server lets the answers under way go out. */
const LAST_ANSWERS_MS = 300;

/** Opens an agent's endpoint on the first free port of its list; a StartError names the port that is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { log, host, bodyLimit = () => DEFAULT_BODY_BYTES, allowedHosts = [], ...doors } = options;
  const refusals = refusalLog(log);
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "internal error");
  const server = httpEndpoint({ ...doors, host, bodyLimit, allowedHosts, refusals, onError });
  let fault = "";
  for (const port of options.ports) {
    try {
      await once(server.listen(port, host), "listening"); // rejects on an error, and leaves no listener
      // From here on a fault, such as a connection that could not be accepted, leaves the server listening.
      server.on("error", onError);
      const bound = server.address() as AddressInfo;
      return {
        refusals,
        url: localUrl(bound.address, bound.port),
        urls: urlsOf(bound.address, bound.port),
        isOnEveryAddress: isWildcard(bound.address),
        port: bound.port,
        close: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            refusals.flush();
            server.closeIdleConnections();
            setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
          }),
      };
    } catch (thrown) {
      const taken = (thrown as NodeJS.ErrnoException).code === "EADDRINUSE";
      fault = taken
        ? `port ${port} on ${host} is already in use; choose another (--port, or its field in the config)`
        : `cannot listen on ${host}:${port}: ${messageOf(thrown)}`;
    }
  }
  throw new StartError(fault);
}
