import type { Clock } from "#shared/lib/clock.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "./host.ts";

/** Long polls: requests that wait until a session meets a condition. */
export interface Waits {
  /**
   * Resolves with true when a commit to the session makes `isOver` true, or immediately if it is true already. Resolves with false when the
   * time limit has passed, `signal` is aborted or the server stops.
   */
  until(
    session: Session,
    isOver: (now: Session) => boolean,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  /** The number of waiting requests. */
  count(): number;
  /** Ends all waits. Their requests are answered with the current session. */
  close(): void;
}

/** Creates the waits of one host. A wait has one timer and one listener, and no polling. */
export function createWaits(host: SessionHost, clock: Clock): Waits {
  const waiting = new Set<() => void>();
  let isClosed = false;
  return {
    until(session, isOver, { timeoutMs, signal }) {
      if (isOver(session)) return Promise.resolve(true);
      if (isClosed || signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (result: boolean): void => {
          cancelTimer();
          waiting.delete(stop);
          unwatch();
          signal?.removeEventListener("abort", stop);
          resolve(result);
        };
        const stop = (): void => end(false);
        const unwatch = host.watch(session.id, (now) => isOver(now.session) && end(true));
        const cancelTimer = clock.after(timeoutMs, stop);
        waiting.add(stop);
        signal?.addEventListener("abort", stop);
      });
    },
    count: () => waiting.size,
    close() {
      isClosed = true;
      for (const stop of waiting) stop();
    },
  };
}
