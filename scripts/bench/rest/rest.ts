import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { launch, type Measured, measure, type Rate, ROOT, sleep, temporaryFolder } from "../process.ts";
import type { ClientReport, WatchedReport } from "./client.ts";
import type { MemoryReport } from "./heap.ts";
import type { WatchersReport } from "./watchers.ts";

/** The rate of actions of one client process. Each connection sends one action at a time. */
export interface ActionRate extends Rate {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Sessions that were created in addition to the counted actions. */
  readonly createdPerSecond: number;
}

interface WatchedRate extends ActionRate {
  readonly eventsPerSecond: number;
  /** The time from the answer to an action until the last spectator has received its event. */
  readonly lastEventDelay: { readonly p50Ms: number; readonly p99Ms: number };
}

/** Mean sizes in bytes. */
interface RestSizes {
  readonly request: number;
  readonly reply: number;
  /** One row of the log. */
  readonly row: number;
}

/** Bytes of memory of one idle session. */
interface IdleSession {
  /** The heap and the external memory of V8 after a forced garbage collection. */
  readonly heap: number;
  readonly rss: number;
}

/** The measurements of REST: the host without and with spectators, the limit, sizes of messages, and idle sessions. */
export interface RestRates {
  readonly alone: ActionRate;
  readonly watched: WatchedRate;
  readonly limit: ActionRate;
  readonly sizes: RestSizes;
  readonly idle: IdleSession;
}

interface RestPace {
  readonly warmupMs: number;
  readonly windowMs: number;
}

/** The load of the measurements: numbers of concurrent sessions, connections, spectators and idle sessions. */
export const REST = { sessions: 200, connections: 50, spectators: 1_000, idleSessions: 10_000 } as const;

const CLIENT = "scripts/bench/rest/client.ts";

/** Measures the session host over REST without and with spectators, the limit of a minimal server, and the memory of idle sessions. */
export async function restRates(pace: RestPace, log: (step: string) => void): Promise<RestRates> {
  const { alone, watched, sizes } = await hostRates(pace, log);
  log(`REST limit, ${REST.connections} connections`);
  const limit = await limitRate(pace, sizes);
  log(`REST, ${REST.idleSessions} idle sessions`);
  return { alone, watched, limit, sizes, idle: await idleSession() };
}

interface Host {
  readonly process: Measured;
  readonly url: string;
  readonly file: string;
  stop(): Promise<void>;
}

async function startHost(nodeArgs: readonly string[] = []): Promise<Host> {
  const port = await freePort();
  const data = temporaryFolder();
  const args = ["--alone", "--port", String(port), "--data", data];
  const running = await launch("referee/main.ts", args, { nodeArgs });
  return {
    process: running,
    url: running.urls[0] ?? "",
    file: join(data, `referee-${port}.sqlite`),
    async stop() {
      await running.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

const startClient = (mode: "play" | "post" | "create", url: string, amount: number): Promise<Measured> =>
  launch(CLIENT, [mode, url, String(REST.connections), String(amount)]);

/** Measures the same host and client without and with spectators, so that the windows differ only in the spectators. */
async function hostRates(pace: RestPace, log: (step: string) => void) {
  const host = await startHost();
  const client = await startClient("play", host.url, REST.sessions);
  log(`REST, ${REST.sessions} sessions, ${REST.connections} connections`);
  await sleep(pace.warmupMs);
  const alone = await actionRate(pace, client, { client: [client], host: [host.process] });
  log(`REST, ${REST.spectators} spectators`);
  const watchers = await launch("scripts/bench/rest/watchers.ts", [host.url, String(REST.spectators)]);
  const watched = await watchedRate(pace, host, client, watchers);
  const { requestBytes: request, replyBytes: reply } = await client.ask<ClientReport>("report");
  const sizes = { request, reply, row: rowBytes(host.file) };
  await client.stop();
  await watchers.stop();
  await host.stop();
  return { alone, watched, sizes };
}

async function watchedRate(pace: RestPace, host: Host, client: Measured, watchers: Measured): Promise<WatchedRate> {
  const watchNewSession = async (): Promise<void> => {
    const { id } = await client.ask<WatchedReport>("new watched");
    await watchers.ask<WatchersReport>({ watch: id });
  };
  await watchNewSession();
  await sleep(pace.warmupMs / 3);
  // The window begins with a new session: a session that ends closes the streams of its spectators.
  await watchNewSession();
  const before = await watchers.ask<WatchersReport>({});
  const startedAt = performance.now();
  const rate = await actionRate(pace, client, { client: [client], host: [host.process], spectators: [watchers] });
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await watchers.ask<WatchersReport>({});
  const { repliedAt } = await client.ask<WatchedReport>("watched");
  const delays = delaysOf(repliedAt, after);
  return {
    ...rate,
    eventsPerSecond: (after.count - before.count) / seconds,
    lastEventDelay: { p50Ms: quantile(delays, 0.5), p99Ms: quantile(delays, 0.99) },
  };
}

/** Returns the delays of the ticks that every spectator has received. */
function delaysOf(repliedAt: readonly (number | null)[], { seenBy, lastAt }: WatchersReport): readonly number[] {
  return repliedAt.flatMap((at, tick) =>
    typeof at === "number" && seenBy[tick] === REST.spectators ? [Math.max(0, (lastAt[tick] ?? 0) - at)] : [],
  );
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

async function actionRate(
  { windowMs }: RestPace,
  client: Measured,
  processes: Readonly<Record<string, readonly Measured[]>>,
): Promise<ActionRate> {
  const reports: ClientReport[] = [];
  const startedAt = performance.now();
  const rate = await measure(
    windowMs,
    async () => {
      const report = await client.ask<ClientReport>("report");
      reports.push(report);
      return report.count;
    },
    processes,
  );
  const [from, to] = reports as [ClientReport, ClientReport];
  const createdPerSecond = ((to.created - from.created) / (performance.now() - startedAt)) * 1_000;
  return { ...rate, p50Ms: to.p50, p99Ms: to.p99, createdPerSecond };
}

/** Returns the mean size of a row of the log in bytes. */
function rowBytes(file: string): number {
  const db = openSqlite(file, "");
  const texts = ["session_id", "seq", "type", "body", "prev_hash", "hash"].map((column) => `length(${column})`);
  const row = db.prepare(`SELECT avg(${texts.join(" + ")}) AS bytes FROM (SELECT * FROM entries LIMIT 10000)`).get();
  db.close();
  return Math.round(Number(row?.bytes));
}

async function limitRate(pace: RestPace, { request, reply, row }: RestSizes): Promise<ActionRate> {
  const port = await freePort();
  const data = temporaryFolder();
  const args = [String(port), join(data, "limit.sqlite"), String(row), String(reply)];
  const server = await launch("scripts/bench/rest/limit.ts", args);
  const client = await startClient("post", server.urls[0] ?? "", request);
  await sleep(pace.warmupMs / 2);
  const rate = await actionRate(pace, client, { client: [client], server: [server] });
  await client.stop();
  await server.stop();
  rmSync(data, { recursive: true, force: true });
  return rate;
}

/**
 * Compares the host's memory with few and with many sessions. Memory of modules that are loaded on first use is in both figures.
 */
async function idleSession(): Promise<IdleSession> {
  const host = await startHost(["--expose-gc", "--import", `${ROOT}scripts/bench/rest/heap.ts`]);
  const after = async (sessions: number): Promise<MemoryReport> => {
    const client = await startClient("create", host.url, sessions);
    await client.stop();
    await sleep(200);
    return host.process.ask<MemoryReport>("memory");
  };
  const before = await after(REST.sessions);
  const now = await after(REST.idleSessions);
  await host.stop();
  const perSession = (to: number, from: number): number => Math.round((to - from) / REST.idleSessions);
  return { heap: perSession(now.heapBytes, before.heapBytes), rss: perSession(now.rssBytes, before.rssBytes) };
}
