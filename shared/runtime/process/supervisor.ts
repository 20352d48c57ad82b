import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import { inOneLine } from "../../lib/text.ts";
import { readLines } from "../../rpc/stdio/stdio-lines.ts";
import { AgentReport } from "./agent-report.ts";
import { EXIT } from "./exit.ts";
import { openStartGate, startGateEnv } from "./start-gate.ts";

// Every program that starts agents, also a test or a host of bots, makes them load compiled code.
createRequire(import.meta.url)("../compile-cache.cjs");

/** An agent that runs as a separate process. */
export interface AgentSpec {
  /** As people know it: "league manager", "REF01", "Alpha". */
  readonly name: string;
  /** e.g. `referee/main.ts`, from the project's root. */
  readonly script: string;
  readonly args: readonly string[];
  /** A player: the other agents continue without it if it cannot be kept alive. */
  readonly isExpendable?: boolean;
  /** The league manager, which runs no code of users: its events are passed on, and it gets the settings of the environment. */
  readonly tellsEvents?: boolean;
}

/** An agent over all its processes. */
interface Life {
  restarts: number;
  wasReady: boolean;
  /** Whether it has reported that a restart does not help. */
  cannotGoOn: boolean;
  readonly onReady: (url: string) => void;
  readonly after: Promise<unknown> | undefined;
}

interface SupervisorOptions {
  readonly clock: Clock;
  /** How often an agent that died is started again. */
  readonly maxRestarts?: number;
  readonly onEvent: (event: unknown) => void;
  /** A line that an agent wrote for people. */
  readonly onLine: (agent: string, line: string) => void;
  /** An agent cannot be kept alive: the run cannot go on. */
  readonly onFatal: (message: string, exitCode: number) => void;
}

/** Runs agents as processes: starts them, starts one that died again, and leaves none behind. */
export interface Supervisor {
  /**
   * Resolves with the agent's URL once it listens; never if it cannot be started, which `onFatal` tells. With `after` its process
   * starts at once, since most of a start is the loading of modules, but the agent begins only then: it takes its port and registers.
   */
  start(spec: AgentSpec, after?: Promise<unknown>): Promise<string>;
  /** Ends every agent: asked first, killed when it does not listen. */
  stop(): Promise<void>;
  /** Process ids of the agents that run, by name. */
  pids(): ReadonlyMap<string, number>;
}

const MAX_RESTARTS = 3;
const KILL_AFTER_MS = 3_000;
/** Of what an agent prints; a stack trace has shorter ones. */
const LINE_BYTES = 16 * 1024;
/** An agent that takes so long has probably met something that it waits for, such as a bot's import that never settles. */
const SLOW_START_MS = 10_000;
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Settings, the operator's token among them, are for agents that run no code but ours. */
function environmentFor({ tellsEvents = false }: AgentSpec): NodeJS.ProcessEnv {
  const all = Object.entries(process.env);
  return tellsEvents ? process.env : Object.fromEntries(all.filter(([name]) => !name.startsWith("LEAGUE__")));
}

const slowWords = ({ isExpendable = false }: AgentSpec): string =>
  isExpendable
    ? "has not started yet: does its bot's file end? It is waited for as long as timeouts.registration_ms says"
    : "has not started yet";

/** The agents that run. */
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
        launch(agents, spec, { restarts: 0, wasReady: false, cannotGoOn: false, onReady, after }),
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
  // A separate process group: Ctrl-C at the terminal reaches the command alone, which then ends its agents in order.
  const child = spawn(process.execPath, [`${root}${spec.script}`, ...spec.args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
    env: { ...environmentFor(spec), ...startGateEnv(after !== undefined) },
  });
  void after?.then(() => openStartGate(child));
  children.set(spec.name, child);
  const cancelSlow = options.clock.after(SLOW_START_MS, () => options.onLine(spec.name, slowWords(spec)));
  hearReports(child, spec, life, options, cancelSlow);
  passOutput(child, spec, options);
  const exited = new Promise<void>((resolve) => {
    const ended = (code: number | null, signal: string | null): void => {
      cancelSlow();
      children.delete(spec.name);
      exits.delete(exited);
      resolve();
      if (!agents.isStopping) onDeath(agents, spec, life, code, signal);
    };
    child.once("exit", ended);
    child.once("error", (error) => {
      options.onLine(spec.name, error.message);
      ended(EXIT.failed, null);
    });
  });
  exits.add(exited);
}

/** Receives the reports of a process. They are untrusted: a player's bot can send any message to its parent. */
function hearReports(
  child: ChildProcess,
  { tellsEvents, isExpendable }: AgentSpec,
  life: Life,
  { onEvent }: SupervisorOptions,
  onReady: () => void,
): void {
  child.on("message", (message) => {
    const report = AgentReport.safeParse(message).data;
    if (report?.type === "event" && tellsEvents) onEvent(report.event);
    if (report?.type === "cannot_go_on") life.cannotGoOn = !isExpendable;
    if (report?.type === "ready") {
      life.wasReady = true;
      onReady();
      life.onReady(report.url);
    }
  });
}

/** Passes on what an agent prints: the author of a bot looks for its console.log first. */
function passOutput(child: ChildProcess, { name }: AgentSpec, { onLine }: SupervisorOptions): void {
  const line = (text: string): void => onLine(name, inOneLine(stripVTControlCharacters(text)));
  const tooLong = (): void => onLine(name, `(a line of more than ${LINE_BYTES} bytes)`);
  for (const output of [child.stdout, child.stderr]) {
    if (output) readLines(output, LINE_BYTES, { line, tooLong, end: () => {} });
  }
}

/** Starts an agent that died again, or reports that it cannot be kept alive. */
function onDeath(agents: Agents, spec: AgentSpec, life: Life, code: number | null, signal: string | null): void {
  const { onLine, onFatal, maxRestarts = MAX_RESTARTS } = agents.options;
  const how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
  const { name, isExpendable = false } = spec;
  // A process that ended without a signal before it listened, or that reports a wrong setup, would fail again. Reports of a player's bot do not count.
  const neverRan = !life.wasReady && signal === null;
  const isSetUpWrongly = code === EXIT.config && (neverRan || !isExpendable);
  if (isSetUpWrongly) onFatal(`${name} ${how}`, EXIT.config);
  else if (life.cannotGoOn) onFatal(`${name} ${how}`, EXIT.failed);
  else if (neverRan) onFatal(`${name} ${how} before it was up`, EXIT.failed);
  else if (life.restarts < maxRestarts) {
    onLine(name, `${how}; it is started again`);
    life.restarts++;
    launch(agents, spec, life);
  } else if (isExpendable) {
    onLine(name, `${how}, after ${life.restarts} restarts; the league goes on without it`);
  } else onFatal(`${name} ${how}, after ${life.restarts} restarts`, EXIT.failed);
}
