import { err, ok, type Result } from "#shared/lib/result.ts";

/** The limits of one inbox (PROTOCOL.md, section 2, Inbox). */
export const MAX_OPEN_REQUESTS = 64;
export const MAX_OPEN_BYTES = 1024 * 1024;

/** The time without a poll after which a player counts as unreachable. */
const MAX_ABSENCE_MS = 30_000;

/** The largest first number. It leaves room for two billion requests in a signed integer of 32 bits. */
const MAX_FIRST_NUMBER = 2 ** 30;

/** The inbox of one player: the requests that the player has not answered. Never changed in place. */
export interface Inbox {
  /** The number of the first request. */
  readonly firstNumber: number;
  /** The number of the next request. */
  readonly nextNumber: number;
  /** The open requests as JSON texts, by their numbers, which are also their JSON-RPC ids; in ascending order. */
  readonly open: ReadonlyMap<number, string>;
  readonly openBytes: number;
  /** The polls that are waiting. */
  readonly waitingPolls: number;
  /** The monotonic time at which the last poll began or ended; null before the first poll. */
  readonly lastPollMs: number | null;
  readonly createdMs: number;
}

/** A JSON-RPC request without its id. */
export interface InboxRequest {
  readonly method: string;
  readonly params: unknown;
}

/** A JSON-RPC response of the player. It is untrusted: only its id has been read. */
export type InboxAnswer = Readonly<Record<string, unknown>>;

/**
 * Returns the first number of an inbox. `random` is a number from 0 to 1 that differs at each start of the manager: an answer to a request of an earlier
 * start then has none of the new numbers, and is ignored.
 */
export const firstNumberOf = (random: number): number => 1 + Math.floor(random * (MAX_FIRST_NUMBER - 1));

/** Returns an empty inbox. */
export function newInbox(firstNumber: number, nowMs: number): Inbox {
  const initial = { open: new Map(), openBytes: 0, waitingPolls: 0, lastPollMs: null };
  return { firstNumber, nextNumber: firstNumber, ...initial, createdMs: nowMs };
}

/** Adds a request. Returns its number, or "full" if the inbox has reached a limit. */
export function withRequest(
  inbox: Inbox,
  { method, params }: InboxRequest,
): Result<{ readonly inbox: Inbox; readonly number: number }, "full"> {
  const number = inbox.nextNumber;
  const text = JSON.stringify({ jsonrpc: "2.0", id: number, method, params });
  const openBytes = inbox.openBytes + Buffer.byteLength(text);
  if (inbox.open.size >= MAX_OPEN_REQUESTS || openBytes > MAX_OPEN_BYTES) return err("full");
  const open = new Map(inbox.open).set(number, text);
  return ok({ inbox: { ...inbox, open, openBytes, nextNumber: number + 1 }, number });
}

/** Removes a request that is answered, or whose sender no longer waits. */
export function withoutRequest(inbox: Inbox, number: number): Inbox {
  const text = inbox.open.get(number);
  if (text === undefined) return inbox;
  const open = new Map(inbox.open);
  open.delete(number);
  return { ...inbox, open, openBytes: inbox.openBytes - Buffer.byteLength(text) };
}

/** The answers of one poll. */
interface Matched {
  readonly inbox: Inbox;
  /** The answers to open requests, by the numbers of the requests. */
  readonly answers: ReadonlyMap<number, InboxAnswer>;
  /** The ids of the elements that answer no open request; null for an element without an id. */
  readonly ignored: readonly (string | number | null)[];
}

/** Matches the elements of a poll with the open requests, and removes the answered requests. The first answer to a request counts. */
export function withAnswers(inbox: Inbox, elements: readonly unknown[]): Matched {
  const answers = new Map<number, InboxAnswer>();
  const ignored: (string | number | null)[] = [];
  for (const element of elements) {
    const answer = typeof element === "object" && element !== null ? (element as InboxAnswer) : {};
    const { id } = answer;
    const isAnswer = "result" in answer || "error" in answer;
    if (typeof id === "number" && isAnswer && inbox.open.has(id) && !answers.has(id)) answers.set(id, answer);
    else ignored.push(typeof id === "string" || typeof id === "number" ? id : null);
  }
  const left = [...answers.keys()].reduce(withoutRequest, inbox);
  return { inbox: left, answers, ignored };
}

/** Open requests for a poll, and the number that the next poll passes as `after`. */
export interface Page {
  readonly next: number;
  /** JSON texts. */
  readonly requests: readonly string[];
}

/**
 * Returns the open requests with a number above `after`. A number that no request has, for example of an earlier start of the manager, counts as 0: every
 * open request is then returned.
 */
export function requestsAfter({ open, firstNumber, nextNumber }: Inbox, after: number): Page {
  const known = after >= firstNumber && after < nextNumber ? after : 0;
  const due = [...open].filter(([number]) => number > known);
  return { next: due.at(-1)?.[0] ?? known, requests: due.map(([, text]) => text) };
}

/** Records that a poll begins (`change` is 1) or ends (-1). */
export const withPoll = (inbox: Inbox, change: 1 | -1, nowMs: number): Inbox => ({
  ...inbox,
  waitingPolls: inbox.waitingPolls + change,
  lastPollMs: nowMs,
});

/**
 * Whether requests are accepted: a poll waits or has ended recently, or the inbox is new, because a player begins to poll after its registration and
 * after a restart of the manager.
 */
export const isReachable = (inbox: Inbox, nowMs: number): boolean =>
  isAttended(inbox, nowMs) || nowMs - inbox.createdMs < MAX_ABSENCE_MS;

/** Whether a poll waits or has ended recently. */
export const isAttended = ({ waitingPolls, lastPollMs }: Inbox, nowMs: number): boolean =>
  waitingPolls > 0 || (lastPollMs !== null && nowMs - lastPollMs < MAX_ABSENCE_MS);
