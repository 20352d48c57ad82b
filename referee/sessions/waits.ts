import type { Clock } from "#shared/lib/clock.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "./host.ts";

/** Long polls: requests that wait until something happens in a session. */
export interface Waits {
  /**
   * Resolves true as soon as a commit to the session makes `isOver` true (at once when it is already), false when the time has
   * passed, the caller has gone or the server stops.
   */
  until(
    session: Session,
    isOver: (now: Session) => boolean,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<boolean>;
  /** How many requests wait now. */
  count(): number;
  /** Ends all waits. Their requests are answered with the current session. */
  close(): void;
}

/** Waits over one host. One timer and one listener each, nothing that runs while they wait. */
export function createWaits(host: SessionHost, clock: Clock): Waits {
  const waiting = new Set<() => void>();
  let isClosed = false;
  return {
    until(session, isOver, { timeoutMs, signal }) {
      if (isOver(session)) return Promise.resolve(true);
      if (isClosed || signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (happened: boolean): void => {
          cancelTimer();
          waiting.delete(stop);
          leave();
          signal?.removeEventListener("abort", stop);
          resolve(happened);
        };
        const stop = (): void => end(false);
        const leave = host.watch(session.id, (now) => isOver(now.session) && end(true));
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
