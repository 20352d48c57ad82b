import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { type Agents, managerSpecs, playerSpecs, refereeSpecs, untilReady, writeConfig } from "./agents.ts";
import { CpuMeter, type MeteredGroup } from "./cpu-meter.ts";
import type { ClusterDatabase } from "./database.ts";
import { type Forwarder, startForwarder } from "./forwarder.ts";
import type { PlannedLeague } from "./leagues.ts";

/** The shape of a cluster. */
interface ClusterShape {
  readonly folder: string;
  readonly seed: string;
  readonly leagues: readonly PlannedLeague[];
  readonly managers: number;
  readonly referees: number;
  readonly players: number;
  /** The migrated database of the managers; null for one manager with its embedded database, which has no proxy. */
  readonly database: ClusterDatabase | null;
  /** Whether the connections of the managers to the database pass through forwarders. */
  readonly isCuttable: boolean;
}

/** The running processes of a run. */
export interface Cluster {
  readonly agents: Agents;
  readonly database: ClusterDatabase | null;
  /** The forwarder of each manager; empty if the connections to the database cannot be cut. */
  readonly forwarders: readonly Forwarder[];
  readonly progress: Progress;
  readonly cpu: CpuMeter;
  /** Returns the process id of an agent; undefined while it is not running. */
  pidOf(name: string): number | undefined;
  /** Waits for a step of the run. Rejects if the run cannot continue or the step takes too long. `what` names the step in the error. */
  within<T>(ms: number, what: string, step: Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

const SAMPLE_MS = 500;
const START_MS = 120_000;

/** Starts the processes of a run. Resolves when all agents listen. */
export async function startCluster(shape: ClusterShape): Promise<Cluster> {
  const started = new AsyncDisposableStack();
  try {
    return await startOn(started, shape);
  } catch (thrown) {
    await started.disposeAsync();
    throw thrown;
  }
}

async function startOn(started: AsyncDisposableStack, shape: ClusterShape): Promise<Cluster> {
  const { folder, database } = shape;
  mkdirSync(folder, { recursive: true });
  const forwarders = await startForwarders(shape);
  for (const forwarder of forwarders) started.defer(() => forwarder.close());
  const agents = await agentsOf(shape, forwarders);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const progress = new Progress();
  const supervisor = superviseAgents(agents, progress, (error) => failed.reject(error));
  started.defer(() => supervisor.stop());
  const proxyPids: number[] = [];
  const cpu = new CpuMeter(groupsOf(supervisor, database, proxyPids));
  const sampling = setInterval(() => cpu.sample(), SAMPLE_MS);
  started.defer(() => clearInterval(sampling));
  const within: Cluster["within"] = async (ms, what, step) => {
    const late = new StartError(`not within ${ms / 1_000} s: ${what}; see ${folder}`, EXIT.failed);
    const timer = setTimeout(() => failed.reject(late), ms);
    try {
      return await Promise.race([step, failed.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  const configFile = writeConfig(agents);
  const managers = managerSpecs(agents, configFile).map((spec) => supervisor.start(spec));
  await within(START_MS, "all managers listen", Promise.all(managers));
  if (database !== null) {
    const proxy = await startHaproxy(
      folder,
      agents.frontPort,
      agents.managers.map(({ port }) => port),
    );
    started.defer(() => proxy.stop());
    proxyPids.push(proxy.pid);
  }
  const others = [...refereeSpecs(agents), ...playerSpecs(agents)].map((spec) => supervisor.start(spec));
  await within(START_MS, "all referees and players listen", Promise.all(others));
  return {
    agents,
    database,
    forwarders,
    progress,
    cpu,
    within,
    pidOf: (name) => supervisor.pids().get(name),
    stop: () => started.disposeAsync(),
  };
}

const startForwarders = ({ managers, database, isCuttable }: ClusterShape): Promise<readonly Forwarder[]> =>
  Promise.all(Array.from({ length: database && isCuttable ? managers : 0 }, () => startForwarder(database?.port ?? 0)));

async function agentsOf(shape: ClusterShape, forwarders: readonly Forwarder[]): Promise<Agents> {
  const { folder, seed, leagues, database } = shape;
  const ports = await freePorts(1 + shape.managers + shape.referees + shape.players);
  const managerPorts = ports.slice(1, 1 + shape.managers);
  const [proxyPort = 0] = ports;
  return {
    folder,
    seed,
    leagues,
    managers: managerPorts.map((port, index) => ({
      port,
      database: database?.urlAt(forwarders[index]?.port ?? database.port) ?? null,
    })),
    frontPort: database === null ? (managerPorts[0] ?? 0) : proxyPort,
    refereePorts: ports.slice(1 + shape.managers, 1 + shape.managers + shape.referees),
    playerPorts: ports.slice(1 + shape.managers + shape.referees),
  };
}

/** Supervises the agents and writes their output to a file. */
function superviseAgents({ folder }: Agents, progress: Progress, onFailed: (error: Error) => void): Supervisor {
  const logFile = join(folder, "agents.log");
  const write = (text: string): void => appendFileSync(logFile, `${systemClock.iso()} ${text}\n`);
  return createSupervisor({
    clock: systemClock,
    maxRestarts: Number.POSITIVE_INFINITY,
    onEvent(event) {
      const live = event as LiveEvent;
      progress.event(live);
      if (live.type === "notice" || live.type === "league_stuck") write(JSON.stringify(live));
    },
    onLine: (agent, line) => write(`${agent}: ${line}`),
    onFatal: (message) => onFailed(new StartError(`${message}; see ${logFile}`, EXIT.failed)),
  });
}

/** The groups of processes whose processor time is reported separately. */
function groupsOf(
  supervisor: Supervisor,
  database: ClusterDatabase | null,
  proxyPids: readonly number[],
): readonly MeteredGroup[] {
  const agents = (prefix: string) => (): readonly number[] =>
    [...supervisor.pids()].flatMap(([name, pid]) => (name.startsWith(prefix) ? [pid] : []));
  return [
    { name: "managers", roots: agents("manager") },
    { name: "referees", roots: agents("referee") },
    { name: "players", roots: agents("player") },
    { name: "database", roots: () => [database?.pid() ?? []].flat() },
    { name: "proxy", roots: () => proxyPids },
  ];
}

const PATHS = ["/usr/sbin/haproxy"];
const HAPROXY_START_MS = 10_000;

/** HAProxy in front of the managers of a run. */
interface Proxy {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts HAProxy on a port of loopback. It passes each request to a manager that is ready. */
async function startHaproxy(folder: string, port: number, managerPorts: readonly number[]): Promise<Proxy> {
  const program = requireProgram(PATHS, "haproxy");
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configOf(port, managerPorts));
  // The system ends HAProxy when this process ends in any way.
  const args = ["--pdeathsig", "TERM", program, "-db", "-f", file];
  const child = spawn("setpriv", args, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  if (!(await untilReady(port, HAPROXY_START_MS))) {
    await end(child);
    throw new StartError(`HAProxy does not pass requests to the managers: ${errors}`, EXIT.failed);
  }
  return { pid: child.pid ?? 0, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

const configOf = (port: number, managerPorts: readonly number[]): string => `
global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  retries 3
  option redispatch
frontend managers
  bind 127.0.0.1:${port}
  default_backend managers
backend managers
  balance roundrobin
  option httpchk
  http-check send meth GET uri /ready ver HTTP/1.1 hdr Host 127.0.0.1
  default-server check inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions
${managerPorts.map((managerPort, index) => `  server manager${index + 1} 127.0.0.1:${managerPort}`).join("\n")}
`;

/** The number of completed matches of a run, as its managers report them. Each manager reports every match. */
class Progress {
  readonly #completed = new Map<string, number>();
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();

  event(live: LiveEvent): void {
    if (live.type !== "match_completed") return;
    const before = this.#completed.get(live.league_id) ?? 0;
    if (live.completed <= before) return;
    this.#completed.set(live.league_id, live.completed);
    for (const waiting of this.#waiting) {
      if (this.matches < waiting.count) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** The number of completed matches. */
  get matches(): number {
    return [...this.#completed.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when this number of matches is completed. */
  reached(count: number): Promise<void> {
    if (this.matches >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ count, resolve }));
  }
}
