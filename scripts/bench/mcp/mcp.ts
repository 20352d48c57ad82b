import { rmSync } from "node:fs";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { type LeagueUnderLoad, startLeague } from "../matches/league.ts";
import { cpuOf, launch, type Measured, measure, median, type Rate, ROOT, sleep, temporaryFolder } from "../process.ts";
import type { MemoryReport } from "../rest/heap.ts";
import { plainCall } from "./http.ts";

/** The durations of a measurement. */
interface McpPace {
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Arguments of Node.js for the referee. */
  readonly nodeArgs?: readonly string[];
}

/** The rates of `get_game_state` calls to a referee, and to a server of the MCP SDK that has the same state in memory. */
export interface McpRates {
  readonly stateless: Rate;
  readonly plain: Rate;
  readonly sdkStateless: Rate;
  readonly sdkSession: Rate;
  /** The size of the state in bytes. */
  readonly stateBytes: number;
}

/** The number of client processes, of concurrent calls of each, and of turns in a round. */
const MCP = { clients: 2, inFlightEach: 16, turns: 4 } as const;
const SETTLE_MS = 300;

/** The number of matches that are played before the measurement. Their lengths grow from one round; `MATCH`, the second of them, has six. */
const MATCHES = 10;
const MATCH = "M1";

/**
 * Measures both servers. They run at the same time and are called in turn, by the same kind of clients with the same requests. A round has several
 * turns, so that other load of the machine affects all of them.
 */
export async function mcpRates(pace: McpPace, log: (step: string) => void): Promise<McpRates> {
  const league = await startLeague({ inFlight: 1, players: "pair", nodeArgs: { referee: pace.nodeArgs ?? [] } });
  const { referee } = league;
  const state = await playedMatch(league, referee.urls[0] ?? "");
  const port = await freePort();
  const sdk = await launch("scripts/bench/mcp/sdk.ts", [String(port), state]);
  const arms = {
    stateless: await startArm("stateless", referee, "/mcp"),
    sdkStateless: await startArm("stateless", sdk, "/mcp"),
    plain: await startArm("plain", referee, "/mcp"),
    sdkSession: await startArm("session", sdk, "/session"),
  };
  log("MCP calls, a referee and a server of the SDK");
  const measureAll = async (windowMs: number) => ({
    stateless: await callRate(arms.stateless, windowMs),
    sdkStateless: await callRate(arms.sdkStateless, windowMs),
    plain: await callRate(arms.plain, windowMs),
    sdkSession: await callRate(arms.sdkSession, windowMs),
  });
  await measureAll(pace.warmupMs / 3);
  const turns = [];
  for (let turn = 0; turn < MCP.turns; turn++) turns.push(await measureAll(pace.windowMs / 2));
  for (const { clients } of Object.values(arms)) await Promise.all(clients.map((client) => client.stop()));
  await sdk.stop();
  await league.stop();
  return {
    stateless: medianRate(turns.map((turn) => turn.stateless)),
    sdkStateless: medianRate(turns.map((turn) => turn.sdkStateless)),
    plain: medianRate(turns.map((turn) => turn.plain)),
    sdkSession: medianRate(turns.map((turn) => turn.sdkSession)),
    stateBytes: Buffer.byteLength(state),
  };
}

/** A server and the clients that call it. */
interface Arm {
  readonly server: Measured;
  readonly clients: readonly Measured[];
}

async function startArm(kind: "plain" | "stateless" | "session", server: Measured, path: string): Promise<Arm> {
  const args = [kind, server.urls[0] ?? "", path, MATCH, String(MCP.inFlightEach)];
  const starting = Array.from({ length: MCP.clients }, () => launch("scripts/bench/mcp/client.ts", args));
  return { server, clients: await Promise.all(starting) };
}

async function callRate({ server, clients }: Arm, windowMs: number): Promise<Rate> {
  const askAll = async (question: "go" | "count" | "pause"): Promise<number> => {
    const counts = await Promise.all(clients.map((client) => client.ask<number>(question)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await askAll("go");
  await sleep(SETTLE_MS);
  const rate = await measure(windowMs, () => askAll("count"), { clients, server: [server] });
  await askAll("pause");
  await sleep(SETTLE_MS);
  return rate;
}

/** Returns the median of each field of the rates. */
function medianRate(rates: readonly Rate[]): Rate {
  const groups = Object.keys(rates[0]?.cpu ?? {});
  return {
    perSecond: median(rates.map(({ perSecond }) => perSecond)),
    cpu: Object.fromEntries(groups.map((group) => [group, median(rates.map(({ cpu }) => cpu[group] ?? 0))])),
    cpuTotal: median(rates.map(({ cpuTotal }) => cpuTotal)),
    others: median(rates.map(({ others }) => others)),
  };
}

/** Plays the matches to their end, and returns the state of `MATCH` as JSON. */
async function playedMatch({ manager }: LeagueUnderLoad, url: string): Promise<string> {
  manager.keep(MATCHES);
  manager.keep(0);
  const states = [];
  for (let number = 0; number < MATCHES; number++) states.push(await finalStateOf(`M${number}`, url));
  return states[Number(MATCH.slice(1))] ?? "";
}

async function finalStateOf(match_id: string, url: string): Promise<string> {
  const { headers, body, path } = plainCall("/mcp", "get_game_state", { match_id });
  for (;;) {
    const answer = await fetch(new URL(path, url), { method: "POST", headers, body });
    const { result } = (await answer.json()) as { result: { structuredContent?: { status: string } } };
    if (result.structuredContent?.status === "completed") return JSON.stringify(result.structuredContent);
    await sleep(20);
  }
}

/** The cost of `WAITERS` MCP clients that wait for their turn at a session host. */
export interface Waiting {
  /** Bytes per client of heap and external memory of V8, after a forced garbage collection. */
  readonly heap: number;
  /** Bytes per client of resident memory. */
  readonly rss: number;
  /** The share of one processor that the host uses while all clients wait. */
  readonly cpu: number;
  /** The same share before the clients wait. */
  readonly cpuBefore: number;
}

/** The number of waiting clients. */
export const WAITERS = 500;

/** Measures clients with sessions, whose event streams the SDK's transports keep open, or clients of the protocol revision without sessions. */
export async function waitingCost(kind: "session" | "stateless", quietMs: number): Promise<Waiting> {
  const port = await freePort();
  const data = temporaryFolder();
  const host = await launch("referee/main.ts", ["--alone", "--port", String(port), "--data", data], {
    nodeArgs: ["--expose-gc", "--import", `${ROOT}scripts/bench/rest/heap.ts`],
  });
  const waiters = await launch("scripts/bench/mcp/waiters.ts", [kind, host.urls[0] ?? "", String(WAITERS)]);
  const memory = async (): Promise<MemoryReport> => {
    await sleep(500);
    await host.ask<MemoryReport>("memory");
    return host.ask<MemoryReport>("memory");
  };
  const cpuIn = async (ms: number): Promise<number> => {
    await sleep(500);
    const from = cpuOf(host.pid);
    await sleep(ms);
    return (cpuOf(host.pid) - from) / 1_000 / ms;
  };
  const before = await memory();
  const cpuBefore = await cpuIn(quietMs / 3);
  await waiters.ask<number>("wait");
  const now = await memory();
  const cpu = await cpuIn(quietMs);
  const waiting = await waiters.ask<number>("count");
  if (waiting !== WAITERS) throw new Error(`${waiting} of ${WAITERS} clients were waiting`);
  await waiters.stop();
  await host.stop();
  rmSync(data, { recursive: true, force: true });
  const perClient = (to: number, from: number): number => Math.round((to - from) / WAITERS);
  return {
    heap: perClient(now.heapBytes, before.heapBytes),
    rss: perClient(now.rssBytes, before.rssBytes),
    cpu,
    cpuBefore,
  };
}
