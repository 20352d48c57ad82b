import { type Limit, withinLimit } from "../lib/lazy.ts";

export type Esbuild = typeof import("esbuild");

/**
 * The time limit of one use. It is shorter than the limit of `lazily`, so that a load that is repeated after its limit gets a new helper process if no
 * other use is under way.
 */
const LIMIT: Limit = { limitMs: 40_000 };

/** The number of uses of esbuild in this process that have not ended. */
let users = 0;

/**
 * Calls `use` with esbuild and returns its result. The helper process of esbuild ends with the last use that is under way. Nothing else may call
 * `stop()` of esbuild, because a build that is under way then never settles. Rejects if `use` exceeds the limit.
 */
export async function withEsbuild<T>(use: (esbuild: Esbuild) => Promise<T>, limit = LIMIT): Promise<T> {
  // Imported here, because most processes bundle nothing.
  const esbuild = await import("esbuild");
  users++;
  try {
    return await withinLimit("esbuild", use(esbuild), limit);
  } finally {
    users--;
    // In Node.js, stop() has ended the helper process when it returns its promise. A build that begins later starts another process.
    if (users === 0) await esbuild.stop();
  }
}
