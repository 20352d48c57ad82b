import type { Clock } from "#shared/lib/clock.ts";

/** How long a message waits for the answers to the earlier notifications to its player about the match. */
export const IN_ORDER_WITHIN_MS = 250;

/** The notifications to one player about one match that are not answered yet. */
interface Open {
  count: number;
  /** Resolves when all of them are answered or have failed. */
  answered: Promise<unknown>;
  /** Whether a message has waited for them until its limit. */
  isLate: boolean;
}

/**
 * The notifications under way, by match token. A message about a match waits for the answers to the earlier ones, because a player with several threads could
 * handle the messages in another order otherwise. A player that does not answer must not delay its opponents at each turn: when a message has
 * waited until its limit, the following ones are sent immediately until the player has answered all notifications.
 */
export class Deliveries {
  readonly #clock: Pick<Clock, "after">;
  readonly #open = new Map<string, Open>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Resolves when the earlier notifications are answered, the limit has passed or `signal` is aborted. null if a message need not wait for them. */
  answered(token: string, signal?: AbortSignal): Promise<void> | null {
    const open = this.#open.get(token);
    return !open || open.isLate || signal?.aborted ? null : this.#wait(open, signal);
  }

  #wait(open: Open, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#clock.after(IN_ORDER_WITHIN_MS, () => {
        open.isLate = true;
        end();
      });
      signal?.addEventListener("abort", end);
      void open.answered.then(end);
    });
  }

  /** Sends a notification after the earlier ones. `send` must not reject. Resolves when it has resolved. */
  deliver(token: string, send: () => Promise<void>): Promise<void> {
    const earlier = this.#open.get(token);
    const sent = this.answered(token)?.then(send) ?? send();
    const open = earlier ?? { count: 0, answered: sent, isLate: false };
    open.count++;
    open.answered = Promise.all([open.answered, sent]);
    this.#open.set(token, open);
    return sent.then(() => {
      if (--open.count === 0) this.#open.delete(token);
    });
  }
}
