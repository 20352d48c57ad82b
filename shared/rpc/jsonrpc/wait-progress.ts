import type { Clock } from "../../lib/clock.ts";

/** Receives the progress of a call that waits: at its beginning and at intervals. */
export type WaitProgress = (doneMs: number, message: string) => void;

const PROGRESS_EVERY_MS = 5_000;

/** Reports the progress of a wait until it ends. Hosts end calls of which they hear nothing. Resolves with the result of the wait. */
export async function withProgress<T>(
  waiting: Promise<T>,
  message: string,
  { timeoutMs, progress }: { readonly timeoutMs: number; readonly progress?: WaitProgress | undefined },
  clock: Clock,
): Promise<T> {
  if (!progress) return waiting;
  const startedAtMs = clock.monotonic();
  const report = (): void => progress(Math.min(clock.monotonic() - startedAtMs, timeoutMs), message);
  const stopReports = clock.every(PROGRESS_EVERY_MS, report);
  report();
  try {
    return await waiting;
  } finally {
    stopReports();
  }
}
