import { isMainThread } from "node:worker_threads";

/**
 * Memory of a process that is started with `node --expose-gc --import` and this module. The module answers each IPC message with this report after a
 * garbage collection.
 */
export interface MemoryReport {
  /** The heap and the external memory of V8. */
  readonly heapBytes: number;
  readonly rssBytes: number;
}

if (isMainThread) {
  process.on("message", () => {
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send?.({ heapBytes: heapUsed + external, rssBytes: rss } satisfies MemoryReport);
  });
}
