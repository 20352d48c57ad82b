import { isMainThread } from "node:worker_threads";

/** Loaded before a process that is measured (`node --expose-gc --import`): tells its memory, without garbage, when asked. */
export interface HeapTold {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

if (isMainThread) {
  process.on("message", () => {
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send?.({ heapBytes: heapUsed + external, rssBytes: rss } satisfies HeapTold);
  });
}
