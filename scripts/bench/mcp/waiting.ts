import { rmSync } from "node:fs";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { launch, ROOT, sleep, temporaryFolder } from "../process.ts";
import { cpuOf } from "../process-table.ts";
import type { MemoryReport } from "../rest/heap.ts";

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
