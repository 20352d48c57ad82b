import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { inOneLine } from "#shared/lib/text.ts";
import type { Clock } from "../../lib/clock.ts";
import { moduleUrl } from "../../lib/module-file.ts";
import { readLines } from "../../rpc/stdio/stdio-lines.ts";
import { EXIT } from "./exit.ts";
import { AgentReport, openStartGate, startGateEnv } from "./parent-process.ts";

/** What package.json preloads into an agent. The compile cache is inherited, whichever program starts the agents. */
const PRELOAD = fileURLToPath(new URL("../compile-cache.cjs", import.meta.url));
createRequire(import.meta.url)(PRELOAD);

/** An agent that runs as a separate process. */
export interface AgentSpec {
  /** The name for people: "league manager", "REF01", "Alpha". */
  readonly name: string;
  /** The path of the source from the project's root, e.g. `referee/main.ts`. */
  readonly script: string;
  readonly args: readonly string[];
  /** Whether it waits for a debugger while it starts. */
  readonly isDebugged?: boolean;
  /** Whether the other agents continue if this agent cannot be kept running. True for players. */
  readonly isExpendable?: boolean;
  /**
   * Whether the agent's events are passed on and it gets the settings of the environment. True for the league manager,
   * which runs no code of users.
   */
  readonly reportsEvents?: boolean;
  /** Environment variables that the agent does not get: the API keys of other agents. */
  readonly withheld?: readonly string[];
  /** The PostgreSQL database of the agent. Other agents do not get DATABASE_URL, which may contain a password. */
  readonly database?: string | undefined;
}

/** The state of an agent across its restarts. */
interface Life {
  restarts: number;
  wasReady: boolean;
  /** Whether it has reported that a restart does not help. */
  cannotContinue: boolean;
  readonly onReady: (url: string) => void;
  readonly after: Promise<unknown> | undefined;
}

interface SupervisorOptions {
  readonly clock: Clock;
  /** The number of times that an agent is restarted. */
  readonly maxRestarts?: number;
  readonly onEvent: (event: unknown) => void;
  /** Called with each line that an agent has written for people. */
  readonly onLine: (agent: string, line: string) => void;
  /** Called if an agent cannot be kept running. The run cannot continue. */
  readonly onFatal: (message: string, exitCode: number) => void;
  /**
   * Whether the run waits for an agent that must register before it can begin. If the process of such an agent ends by itself, its registration was
   * rejected: another start would not help. Without this function, no agent is awaited.
   */
  readonly isAwaited?: (agent: string) => boolean;
}

/** Runs agents as processes: starts them, restarts an agent that has ended, and stops all of them. */
export interface Supervisor {
  /**
   * Starts an agent. Resolves with its URL when it listens. Never resolves if the agent cannot be started, which
   * `onFatal` reports. With `after` the process starts immediately, because most of a start is the loading of modules,
   * but the agent binds its port and registers only after that promise has resolved.
   */
  start(spec: AgentSpec, after?: Promise<unknown>): Promise<string>;
  /** Ends all agents: sends SIGTERM, and SIGKILL to those that have not ended after three seconds. */
  stop(): Promise<void>;
  /** Returns the process ids of the running agents by name. */
  pids(): ReadonlyMap<string, number>;
}

const DATABASE_URL = "DATABASE_URL";
const MAX_RESTARTS = 3;
const KILL_AFTER_MS = 3_000;
/** The longest line of output that is passed on. The lines of a stack trace are shorter. */
const LINE_BYTES = 16 * 1024;
/** After this time an agent probably waits for something, such as an import in a bot's file that never settles. */
const SLOW_START_MS = 10_000;

/**
 * Returns the environment of an agent. Settings, including the operator token, are passed only to agents that run no
 * code of users.
 */
function environmentFor({ reportsEvents = false, withheld = [], database }: AgentSpec): NodeJS.ProcessEnv {
  const isWithheld = (name: string): boolean => name === DATABASE_URL || withheld.includes(name);
  const variables = Object.entries(process.env).filter(([name]) => !isWithheld(name));
  const passed = variables.filter(([name]) => reportsEvents || !name.startsWith("LEAGUE__"));
  return { ...Object.fromEntries(passed), ...(database !== undefined && { [DATABASE_URL]: database }) };
}

const slowStartMessage = ({ isExpendable = false }: AgentSpec): string =>
  isExpendable
    ? "has not started yet. Its bot file may not finish loading. The league waits for it at most timeouts.registration_ms"
    : "has not started yet";

/** The running agents. */
interface Agents {
  readonly options: SupervisorOptions;
  readonly children: Map<string, ChildProcess>;
  readonly exits: Set<Promise<void>>;
  isStopping: boolean;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const agents: Agents = { options, children: new Map(), exits: new Set(), isStopping: false };
  const { children, exits } = agents;
  return {
    start: (spec, after) =>
      new Promise((onReady) =>
        launch(agents, spec, { restarts: 0, wasReady: false, cannotContinue: false, onReady, after }),
      ),
    async stop() {
      agents.isStopping = true;
      for (const child of children.values()) child.kill("SIGTERM");
      const cancelKill = options.clock.after(KILL_AFTER_MS, () => {
        for (const child of children.values()) child.kill("SIGKILL");
      });
      await Promise.all(exits);
      cancelKill();
    },
    pids: () => new Map([...children].flatMap(([name, { pid }]) => (pid === undefined ? [] : [[name, pid] as const]))),
  };
}

/** Starts a process of an agent. */
function launch(agents: Agents, spec: AgentSpec, life: Life): void {
  const { options, children, exits } = agents;
  const { after } = life;
  // A separate process group: Ctrl-C at the terminal reaches only the command, which then ends its agents in order.
  const child = spawn(
    process.execPath,
    ["--require", PRELOAD, fileURLToPath(moduleUrl(`../../../${spec.script}`, import.meta.url)), ...spec.args],
    {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
      env: { ...environmentFor(spec), ...startGateEnv(after !== undefined) },
    },
  );
  void after?.then(() => openStartGate(child));
  children.set(spec.name, child);
  const warn = (): void => {
    if (!spec.isDebugged) options.onLine(spec.name, slowStartMessage(spec));
  };
  const cancelSlowStart = options.clock.after(SLOW_START_MS, warn);
  handleReports(child, spec, life, options, cancelSlowStart);
  passOutput(child, spec, options);
  const exited = new Promise<void>((resolve) => {
    const ended = (code: number | null, signal: string | null): void => {
      cancelSlowStart();
      children.delete(spec.name);
      exits.delete(exited);
      resolve();
      if (!agents.isStopping) onExit(agents, spec, life, code, signal);
    };
    child.once("exit", ended);
    child.once("error", (error) => {
      options.onLine(spec.name, error.message);
      ended(EXIT.failed, null);
    });
  });
  exits.add(exited);
}

/** Handles the reports of a process. They are untrusted: a player's bot can send any message to its parent. */
function handleReports(
  child: ChildProcess,
  { reportsEvents, isExpendable }: AgentSpec,
  life: Life,
  { onEvent }: SupervisorOptions,
  onReady: () => void,
): void {
  child.on("message", (message) => {
    const report = AgentReport.safeParse(message).data;
    if (report?.type === "event" && reportsEvents) onEvent(report.event);
    if (report?.type === "cannot_continue") life.cannotContinue = !isExpendable;
    if (report?.type === "ready") {
      life.wasReady = true;
      onReady();
      life.onReady(report.url);
    }
  });
}

/** Passes on the output of an agent, where the author of a bot expects its console.log. */
function passOutput(child: ChildProcess, { name }: AgentSpec, { onLine }: SupervisorOptions): void {
  const line = (text: string): void => onLine(name, inOneLine(stripVTControlCharacters(text)));
  const tooLong = (): void => onLine(name, `(a line of more than ${LINE_BYTES} bytes)`);
  for (const output of [child.stdout, child.stderr]) {
    if (output) readLines(output, LINE_BYTES, { line, tooLong, end: () => {} });
  }
}

/** Restarts an agent that has ended, or reports that it cannot be kept running. */
function onExit(agents: Agents, spec: AgentSpec, life: Life, code: number | null, signal: string | null): void {
  const { onLine, onFatal, isAwaited, maxRestarts = MAX_RESTARTS } = agents.options;
  const ending = signal ? `was ended by ${signal}` : `ended with code ${code}`;
  const { name, isExpendable = false } = spec;
  // A process that ended without a signal before it listened, or that reports a wrong setup, would fail again. Reports
  // of a player's bot are ignored.
  const neverRan = !life.wasReady && signal === null;
  const isSetUpWrongly = code === EXIT.config && (neverRan || !isExpendable);
  if (isSetUpWrongly) onFatal(`${name} ${ending}`, EXIT.config);
  else if (life.cannotContinue) onFatal(`${name} ${ending}`, EXIT.failed);
  else if (neverRan) onFatal(`${name} ${ending} before it was ready`, EXIT.failed);
  else if (signal === null && isAwaited?.(name)) onFatal(`${name} ${ending} before it had registered`, EXIT.failed);
  else if (life.restarts < maxRestarts) {
    onLine(name, `${ending}; it is started again`);
    life.restarts++;
    launch(agents, spec, life);
  } else if (isExpendable) {
    onLine(name, `${ending}, after ${life.restarts} restarts; the league continues without it`);
  } else onFatal(`${name} ${ending}, after ${life.restarts} restarts`, EXIT.failed);
}
