import type { Clock } from "#shared/lib/clock.ts";
import { type HostedPlayer, newHostedPlayer } from "./hosted-player.ts";

/** A player that the manager hosts, with the requests that wait for its changes. */
export interface HostedEntry {
  player: HostedPlayer;
  /** Grows with each change that the player can see. */
  version: number;
  /** Called after each change. */
  readonly changed: Set<() => void>;
  /** Aborted when the manager no longer hosts the player. */
  readonly stopped: AbortController;
  /** Settles when the final views of all completed matches have been read. */
  finalViews: Promise<unknown>;
}

export const newHostedEntry = (): HostedEntry => ({
  player: newHostedPlayer(),
  version: 1,
  changed: new Set(),
  stopped: new AbortController(),
  finalViews: Promise.resolve(),
});

/** Tells the waiting requests of a player that it has changed. */
export function recordChange(entry: HostedEntry): void {
  entry.version++;
  for (const check of [...entry.changed]) check();
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with true when a change makes `isOver` true; with false after the time limit, when `signal` is aborted or when the player is no longer hosted. */
export async function waitForChange(
  { changed, stopped }: HostedEntry,
  isOver: () => boolean,
  clock: Pick<Clock, "after">,
  { timeoutMs, signal }: WaitOptions,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const check = (): void => {
    if (isOver()) resolve(true);
  };
  const end = (): void => resolve(false);
  const cancelTimer = clock.after(timeoutMs, end);
  changed.add(check);
  signal?.addEventListener("abort", end);
  stopped.signal.addEventListener("abort", end);
  const isDone = await promise;
  cancelTimer();
  changed.delete(check);
  signal?.removeEventListener("abort", end);
  stopped.signal.removeEventListener("abort", end);
  return isDone;
}
