import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { launch, type Measured, measure, type Rate, ROOT, sleep, temporaryFolder } from "../process.ts";
import type { ClientTold, WatchedTold } from "./client.ts";
import type { HeapTold } from "./heap.ts";
import type { WatchersTold } from "./watchers.ts";

/** Actions that one client process sends, each connection one at a time. */
export interface ActionRate extends Rate {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Sessions created meanwhile, which the rate leaves out. */
  readonly createdPerSecond: number;
}

interface WatchedRate extends ActionRate {
  readonly eventsPerSecond: number;
  /** From an action's answer until the last spectator has its event. */
  readonly lastTold: { readonly p50Ms: number; readonly p99Ms: number };
}

interface RestSizes {
  readonly request: number;
  readonly reply: number;
  /** Of one row of the log. */
  readonly row: number;
}

/** Bytes of one session that nobody plays. */
interface IdleSession {
  /** After a forced garbage collection, with the memory outside of V8's heap. */
  readonly heap: number;
  readonly rss: number;
}

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
  /** Arguments of Node for the host. */
  readonly hostArgs?: readonly string[];
}

export const REST = { sessions: 200, connections: 50, spectators: 1_000, idleSessions: 10_000 } as const;

const CLIENT = "scripts/bench/rest/client.ts";

/** What the session host does over REST, what a bare server would do, and what a session weighs. */
export async function restRates(pace: RestPace, tell: (what: string) => void): Promise<RestRates> {
  const { alone, watched, sizes } = await hostRates(pace, tell);
  tell(`REST limit, ${REST.connections} connections`);
  const limit = await limitRate(pace, sizes);
  tell(`REST, ${REST.idleSessions} idle sessions`);
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

/** Both windows are of one host and one client, so that nothing but the spectators tells them apart. */
async function hostRates(pace: RestPace, tell: (what: string) => void) {
  const host = await startHost(pace.hostArgs);
  const client = await startClient("play", host.url, REST.sessions);
  tell(`REST, ${REST.sessions} sessions, ${REST.connections} connections`);
  await sleep(pace.warmupMs);
  const alone = await actionRate(pace, client, { client: [client], host: [host.process] });
  tell(`REST, ${REST.spectators} spectators`);
  const watchers = await launch("scripts/bench/rest/watchers.ts", [host.url, String(REST.spectators)]);
  const watched = await watchedRate(pace, host, client, watchers);
  const { requestBytes: request, replyBytes: reply } = await client.ask<ClientTold>("told");
  const sizes = { request, reply, row: rowBytes(host.file) };
  await client.stop();
  await watchers.stop();
  await host.stop();
  return { alone, watched, sizes };
}

async function watchedRate(pace: RestPace, host: Host, client: Measured, watchers: Measured): Promise<WatchedRate> {
  const watchFresh = async (): Promise<void> => {
    const { id } = await client.ask<WatchedTold>("new watched");
    await watchers.ask<WatchersTold>({ watch: id });
  };
  await watchFresh();
  await sleep(pace.warmupMs / 3);
  // A game that ends takes its spectators with it: the window has a new one.
  await watchFresh();
  const before = await watchers.ask<WatchersTold>({});
  const begun = performance.now();
  const rate = await actionRate(pace, client, { client: [client], host: [host.process], spectators: [watchers] });
  const seconds = (performance.now() - begun) / 1_000;
  const after = await watchers.ask<WatchersTold>({});
  const { repliedAt } = await client.ask<WatchedTold>("watched");
  const delays = delaysOf(repliedAt, after);
  return {
    ...rate,
    eventsPerSecond: (after.count - before.count) / seconds,
    lastTold: { p50Ms: quantile(delays, 0.5), p99Ms: quantile(delays, 0.99) },
  };
}

/** Of those ticks that every spectator has had. */
function delaysOf(repliedAt: readonly (number | null)[], { seenBy, lastAt }: WatchersTold): readonly number[] {
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
  const told: ClientTold[] = [];
  const begun = performance.now();
  const rate = await measure(
    windowMs,
    async () => {
      const now = await client.ask<ClientTold>("told");
      told.push(now);
      return now.count;
    },
    processes,
  );
  const [from, to] = told as [ClientTold, ClientTold];
  const createdPerSecond = ((to.created - from.created) / (performance.now() - begun)) * 1_000;
  return { ...rate, p50Ms: to.p50, p99Ms: to.p99, createdPerSecond };
}

/** The mean of what the columns of the log hold. */
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

/** The host's memory with so many sessions and without; what it loads when it is first used is in both. */
async function idleSession(): Promise<IdleSession> {
  const host = await startHost(["--expose-gc", "--import", `${ROOT}scripts/bench/rest/heap.ts`]);
  const after = async (sessions: number): Promise<HeapTold> => {
    const client = await startClient("create", host.url, sessions);
    await client.stop();
    await sleep(200);
    return host.process.ask<HeapTold>("memory");
  };
  const before = await after(REST.sessions);
  const now = await after(REST.idleSessions);
  await host.stop();
  const each = (to: number, from: number): number => Math.round((to - from) / REST.idleSessions);
  return { heap: each(now.heapBytes, before.heapBytes), rss: each(now.rssBytes, before.rssBytes) };
}
