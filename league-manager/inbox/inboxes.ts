import type { Clock } from "#shared/lib/clock.ts";
import {
  firstNumberOf,
  type Inbox,
  type InboxAnswer,
  type InboxRequest,
  isAttended,
  isReachable,
  newInbox,
  type Page,
  requestsAfter,
  withAnswers,
  withoutRequest,
  withPoll,
  withRequest,
} from "./inbox.ts";

/** The result of a request: the answer of the player, or the reason why there is none. */
type Asked =
  | { readonly kind: "answered"; readonly answer: InboxAnswer }
  /** The player is unreachable, its inbox is full, or it is no longer registered. */
  | { readonly kind: "refused" }
  /** The caller has ended the request. */
  | { readonly kind: "cancelled" };

/** The result of a poll: the requests for the player, "replaced" if a newer poll has ended it, or "closed" if the inbox has ended. */
type Polled = Page | "replaced" | "closed";

interface PollOptions {
  readonly after: number;
  readonly waitMs: number;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The inbox of one player with the calls that wait for it. */
interface InboxEntry {
  inbox: Inbox;
  readonly callers: Map<number, (asked: Asked) => void>;
  /** The poll that waits for requests; null if none does. */
  poll: { readonly check: () => void; readonly end: (polled: Polled) => void } | null;
}

/** The inboxes of all players, in memory only. After a restart of the manager the referees repeat their requests. */
export class Inboxes {
  readonly #clock: Clock;
  /** Larger than all numbers of dropped inboxes. An inbox may come back from another manager, and its player may then repeat an answer to an earlier request. */
  #firstNumber: number;
  readonly #entries = new Map<string, InboxEntry>();
  #isClosed = false;

  /** `random` is a number from 0 to 1 that differs at each start of the manager. */
  constructor(clock: Clock, random: number) {
    this.#clock = clock;
    this.#firstNumber = firstNumberOf(random);
  }

  /** Puts a request into the inbox of a player and waits for the answer. The request is removed when `signal` is aborted. */
  ask(playerId: string, request: InboxRequest, signal: AbortSignal): Promise<Asked> {
    const entry = this.#entryOf(playerId);
    if (this.#isClosed || !isReachable(entry.inbox, this.#clock.monotonic())) return Promise.resolve(REFUSED);
    if (signal.aborted) return Promise.resolve(CANCELLED);
    const added = withRequest(entry.inbox, request);
    if (!added.ok) return Promise.resolve(REFUSED);
    const { inbox, number } = added.value;
    entry.inbox = inbox;
    const { promise, resolve } = Promise.withResolvers<Asked>();
    const cancel = (): void => {
      entry.callers.delete(number);
      entry.inbox = withoutRequest(entry.inbox, number);
      resolve(CANCELLED);
    };
    entry.callers.set(number, (asked) => {
      signal.removeEventListener("abort", cancel);
      resolve(asked);
    });
    signal.addEventListener("abort", cancel);
    entry.poll?.check();
    return promise;
  }

  /** Passes the answers of a player to the callers. Returns the ids of the elements that answer no open request. */
  answer(playerId: string, elements: readonly unknown[]): readonly (string | number | null)[] {
    const entry = this.#entryOf(playerId);
    const { inbox, answers, ignored } = withAnswers(entry.inbox, elements);
    entry.inbox = inbox;
    for (const [number, answer] of answers) settle(entry, number, { kind: "answered", answer });
    return ignored;
  }

  /** Resolves with the open requests above `after`, as soon as there is one or at the end of the wait. Replaces an earlier poll that still waits. */
  poll(playerId: string, { after, waitMs, signal }: PollOptions): Promise<Polled> {
    const entry = this.#entryOf(playerId);
    entry.poll?.end("replaced");
    if (this.#isClosed) return Promise.resolve("closed");
    const page = requestsAfter(entry.inbox, after);
    if (page.requests.length > 0 || waitMs === 0 || signal.aborted) {
      entry.inbox = withPoll(withPoll(entry.inbox, 1, this.#clock.monotonic()), -1, this.#clock.monotonic());
      return Promise.resolve(page);
    }
    entry.inbox = withPoll(entry.inbox, 1, this.#clock.monotonic());
    const { promise, resolve } = Promise.withResolvers<Polled>();
    const end = (polled: Polled): void => {
      if (entry.poll !== poll) return;
      entry.poll = null;
      cancelTimer();
      signal.removeEventListener("abort", stop);
      entry.inbox = withPoll(entry.inbox, -1, this.#clock.monotonic());
      resolve(polled);
    };
    const check = (): void => {
      const due = requestsAfter(entry.inbox, after);
      if (due.requests.length > 0) end(due);
    };
    const stop = (): void => end(requestsAfter(entry.inbox, after));
    const poll = { check, end };
    const cancelTimer = this.#clock.after(waitMs, stop);
    signal.addEventListener("abort", stop);
    entry.poll = poll;
    return promise;
  }

  /** Whether a request is open. */
  isOpen(playerId: string, number: number): boolean {
    return this.#entries.get(playerId)?.inbox.open.has(number) ?? false;
  }

  /** Whether a poll of the player waits or has ended recently. */
  isAttended(playerId: string): boolean {
    const entry = this.#entries.get(playerId);
    return entry !== undefined && isAttended(entry.inbox, this.#clock.monotonic());
  }

  /** Ends the poll and the requests of a player whose token or endpoint has changed, or that is no longer registered. */
  drop(playerId: string): void {
    const entry = this.#entries.get(playerId);
    if (!entry) return;
    this.#entries.delete(playerId);
    this.#firstNumber = Math.max(this.#firstNumber, entry.inbox.nextNumber);
    entry.poll?.end("closed");
    for (const number of [...entry.callers.keys()]) settle(entry, number, REFUSED);
  }

  /** Drops the inboxes that are at another manager from now on. */
  keepOnly(isHere: (playerId: string) => boolean): void {
    for (const playerId of [...this.#entries.keys()]) if (!isHere(playerId)) this.drop(playerId);
  }

  /** Ends all polls and requests, and refuses later ones. */
  close(): void {
    this.#isClosed = true;
    for (const playerId of [...this.#entries.keys()]) this.drop(playerId);
  }

  #entryOf(playerId: string): InboxEntry {
    const known = this.#entries.get(playerId);
    if (known) return known;
    const inbox = newInbox(this.#firstNumber, this.#clock.monotonic());
    const entry: InboxEntry = { inbox, callers: new Map(), poll: null };
    this.#entries.set(playerId, entry);
    return entry;
  }
}

const REFUSED = { kind: "refused" } as const;
const CANCELLED = { kind: "cancelled" } as const;

function settle({ callers }: InboxEntry, number: number, asked: Asked): void {
  const caller = callers.get(number);
  callers.delete(number);
  caller?.(asked);
}
