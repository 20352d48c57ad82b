import { type Clock, systemClock } from "./clock.ts";

export interface Limit {
  readonly limitMs: number;
  /** The clock of the machine by default, also in simulations: modules and files are loaded in real time. */
  readonly clock?: Pick<Clock, "after">;
}

/** The time limit of `lazily` by default. The slowest load takes about a second, and longer on a busy machine. */
const LOAD_MS = 60_000;

/**
 * Returns a function that loads at its first call and returns the same promise to all callers. After a failure the next
 * call loads again. A load that takes too long fails, and its later result is ignored: otherwise a load that never
 * settles would block every later caller. `what` names the value in the error.
 */
export function lazily<T>(what: string, load: () => Promise<T>, limit: Limit = { limitMs: LOAD_MS }): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= withinLimit(what, load(), limit).catch((thrown) => {
      loading = null;
      throw thrown;
    });
    return loading;
  };
}

/** Resolves or rejects as `work` does. Rejects with an error that begins with `what` if `work` does not settle within the limit. */
export async function withinLimit<T>(
  what: string,
  work: Promise<T>,
  { limitMs, clock = systemClock }: Limit,
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(limitMs, () =>
    reject(new Error(`${what}: not ready within ${limitMs / 1000} s; the next use starts again`)),
  );
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    cancel();
  }
}
