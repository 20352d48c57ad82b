import { rmSync } from "node:fs";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { cpuOf, launch, ROOT, sleep, temporaryFolder } from "../process.ts";
import type { HeapTold } from "../rest/heap.ts";

/** What it costs a host that so many MCP clients wait for their turn. */
export interface Waiting {
  /** Bytes of one of them, after a forced garbage collection, with the memory outside of V8's heap. */
  readonly heap: number;
  readonly rss: number;
  /** The share of a processor that the host uses for all of them. */
  readonly cpu: number;
  /** The same before the first of them came. */
  readonly cpuBefore: number;
}

export const WAITERS = 500;

/** Calls in sessions, which the SDK's transports keep open as event streams, or in the era without sessions. */
export async function waitingCost(kind: "session" | "stateless", quietMs: number): Promise<Waiting> {
  const port = await freePort();
  const data = temporaryFolder();
  const host = await launch("referee/main.ts", ["--alone", "--port", String(port), "--data", data], {
    nodeArgs: ["--expose-gc", "--import", `${ROOT}scripts/bench/rest/heap.ts`],
  });
  const waiters = await launch("scripts/bench/mcp/waiters.ts", [kind, host.urls[0] ?? "", String(WAITERS)]);
  const memory = async (): Promise<HeapTold> => {
    await sleep(500);
    await host.ask<HeapTold>("memory");
    return host.ask<HeapTold>("memory");
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
  const each = (to: number, from: number): number => Math.round((to - from) / WAITERS);
  return {
    heap: each(now.heapBytes, before.heapBytes),
    rss: each(now.rssBytes, before.rssBytes),
    cpu,
    cpuBefore,
  };
}
