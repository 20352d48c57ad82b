import type { Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { isLater, isMethodUnknown, type Reading, readingOf } from "../../protocol/dialects/answers.ts";
import type { Contact, Wordings } from "../../protocol/dialects/dialect.ts";
import { type Attempt, attemptsFor, attemptsOf, bodyOf, type Form, isSameForm } from "../../protocol/dialects/forms.ts";
import type { Memory } from "../../protocol/dialects/memory.ts";
import type { CallFault } from "../peer/call.ts";
import type { Peers } from "../peer/peer.ts";

/** The state of the exchange with one player of another dialect: its endpoint and the forms that it understands. */
export interface Conversation {
  /** The endpoint of the player, with or without a slash at its end, as the server of the player requires. */
  endpoint: string;
  readonly memory: Memory;
  /** The form that has worked; null until one has. */
  learned: Form | null;
  /** The attempt that has worked for each message type. */
  readonly attempts: Map<string, Attempt>;
  /** The message types that the player does not know in any form. They are sent once in each form. */
  readonly unknown: Set<string>;
  /** Settles when the previous message is delivered: such a player receives one message at a time. */
  turn: Promise<unknown>;
}

export const newConversation = (endpoint: string): Conversation => ({
  endpoint,
  memory: new Map(),
  learned: null,
  attempts: new Map(),
  unknown: new Set(),
  turn: Promise.resolve(),
});

/** The limits of one exchange. `deadlineMs` is a monotonic time; pauses that the player demands by Retry-After extend it. */
export interface Limits {
  deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly retry: boolean;
}

interface Client {
  readonly peers: Pick<Peers, "post">;
  readonly clock: Clock;
  nextId: number;
}

/** The answer that a request expects. */
export interface Expectation {
  /** Whether a response answers the message. No other form is tried then. */
  readonly isAnswer: (reading: Reading) => boolean;
  /** The answer if it arrives in a request of the player instead of the response; null if that cannot happen. */
  readonly late: Promise<Reading> | null;
}

/** The longest time that one exchange waits because the player is over its rate limit. */
const MAX_RATE_PAUSES_MS = 65_000;
const DEFAULT_RATE_PAUSE_MS = 1_000;
/** The number of responses with 429 after which an exchange ends. */
const MAX_RATE_PAUSES = 70;
/** The time to wait after a response without an answer, before another form is tried: the player may send the answer in a request. */
const LATE_ANSWER_MS = 300;

/**
 * Sends a message to a player in the wordings and forms that it may understand, the likeliest first, and keeps the one that worked. Resolves with the reading of
 * the first response that is an answer, else with the most informative one, or with the fault of the connection.
 */
export async function exchange(
  client: Client,
  talk: Conversation,
  contact: Contact,
  wordings: Wordings,
  limits: Limits,
  expectation: Expectation,
): Promise<Result<Reading, CallFault>> {
  let best: Reading | null = null;
  for (const message of wordings) {
    const type = message.message_type;
    for (const attempt of attemptsToTry(talk, contact, type)) {
      const body = bodyOf(attempt, message, client.nextId++);
      const reply = await post(client, talk, body, limits);
      if (!reply.ok) return best ? ok(best) : reply;
      const reading = reply.value;
      const late = await lateAnswer(client.clock, reading, expectation);
      if (late || (!isLater(reading) && expectation.isAnswer(reading))) {
        talk.learned = { family: attempt.family, place: attempt.place };
        talk.attempts.set(type, attempt);
        return ok(late ?? reading);
      }
      best = betterOf(best, reading);
      // When the form of the player is known, an error is its answer to the message.
      const isOwnError = talk.learned !== null && reading.error !== null && !isMethodUnknown(reading);
      if (isLater(reading) || isOwnError) return ok(reading);
    }
    if (best?.isUnknown) talk.unknown.add(type);
  }
  return best ? ok(best) : err({ cause: "bad_reply", detail: "this dialect has no such message" });
}

/** Returns the answer that the player has sent in a separate request, or sends soon after a response without an answer; null if there is none. */
async function lateAnswer(clock: Clock, reading: Reading, { isAnswer, late }: Expectation): Promise<Reading | null> {
  if (late === null || isLater(reading) || isAnswer(reading)) return null;
  const waitMs = reading.error === null ? LATE_ANSWER_MS : 0;
  const waiting = new AbortController();
  const none = clock.pause(waitMs, waiting.signal).then(() => null);
  const answer = await Promise.race([late, none]);
  waiting.abort();
  return answer;
}

/** The attempts for a message: the one that has worked, else those of the known form and then all others. */
function attemptsToTry(talk: Conversation, contact: Contact, type: string): readonly Attempt[] {
  const known = talk.attempts.get(type);
  const form = talk.learned ?? contact.form;
  if (known) return [known];
  return talk.unknown.has(type) ? attemptsOf(type, form).slice(0, 1) : attemptsFor(type, form);
}

/** Sends a notification in the form of the player. Other forms are tried only while no form has worked. */
export async function announce(
  client: Client,
  talk: Conversation,
  contact: Contact,
  wordings: Wordings,
  limits: Limits,
): Promise<Result<null, CallFault>> {
  const isAnswer = ({ error, isUnknown }: Reading): boolean => error === null && !isUnknown;
  const [message] = wordings;
  if (!message) return ok(null);
  const form = talk.learned ?? contact.form;
  if (talk.learned || message.message_type === "GAME_ERROR") return announceIn(client, talk, wordings, form, limits);
  const reply = await exchange(client, talk, contact, wordings.slice(0, 1), limits, { isAnswer, late: null });
  return resultOf(reply);
}

/** Sends a notification in one form, by each name that this form has, until one is accepted. */
async function announceIn(
  client: Client,
  talk: Conversation,
  [message]: Wordings,
  form: Form,
  limits: Limits,
): Promise<Result<null, CallFault>> {
  if (!message) return ok(null);
  const known = talk.attempts.get(message.message_type);
  const attempts = known && isSameForm(known, form) ? [known] : attemptsOf(message.message_type, form);
  let reply: Result<Reading, CallFault> = err({ cause: "bad_reply", detail: "no attempt" });
  for (const attempt of attempts) {
    reply = await post(client, talk, bodyOf(attempt, message, client.nextId++), limits);
    if (!reply.ok) return reply;
    if (!reply.value.isUnknown) {
      talk.attempts.set(message.message_type, attempt);
      break;
    }
  }
  return resultOf(reply);
}

function resultOf(reply: Result<Reading, CallFault>): Result<null, CallFault> {
  if (!reply.ok) return reply;
  return reply.value.error === null ? ok(null) : err({ cause: "bad_reply", detail: reply.value.error });
}

/**
 * Posts a body and reads the response. Waits and repeats it while the player answers 429, as its Retry-After demands. Redirects are not followed, except
 * the one of FastAPI and Flask to the same path with or without the last slash.
 */
async function post(
  { peers, clock }: Client,
  talk: Conversation,
  body: string,
  limits: Limits,
): Promise<Result<Reading, CallFault>> {
  let pausedMs = 0;
  let isRedirected = false;
  for (let pauses = 0; ; pauses++) {
    const timeoutMs = limits.deadlineMs - clock.monotonic();
    if (timeoutMs <= 0) return err({ cause: "timeout", detail: "no answer within the time limit" });
    const { signal, retry } = limits;
    const reply = await peers.post(talk.endpoint, body, {
      timeoutMs,
      retry,
      closeConnection: true,
      ...(signal && { signal }),
    });
    if (!reply.ok) return reply;
    if (REDIRECTS.has(reply.value.status) && !isRedirected) {
      isRedirected = true;
      talk.endpoint = withOtherSlash(talk.endpoint);
      continue;
    }
    if (reply.value.status !== 429 || pauses >= MAX_RATE_PAUSES) return ok(readingOf(reply.value));
    const pauseMs = Math.min(pauseOf(reply.value.retryAfter, clock), MAX_RATE_PAUSES_MS - pausedMs);
    if (pauseMs <= 0) return ok(readingOf(reply.value));
    pausedMs += pauseMs;
    limits.deadlineMs += pauseMs;
    if (!(await clock.pause(pauseMs, signal))) return err({ cause: "timeout", detail: "the call was cancelled" });
  }
}

/** Temporary and Permanent Redirect, after which a client repeats a POST. */
const REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

/** Returns an endpoint without its last slash, or with one if it has none. */
function withOtherSlash(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = url.pathname.endsWith("/") ? url.pathname.slice(0, -1) : `${url.pathname}/`;
  return url.href;
}

/** The pause that a header Retry-After demands, in seconds or as a date. */
function pauseOf(retryAfter: string | undefined, clock: Clock): number {
  const seconds = Number(retryAfter);
  if (retryAfter !== undefined && Number.isFinite(seconds)) return Math.max(100, seconds * 1_000);
  const date = Date.parse(retryAfter ?? "");
  return Number.isNaN(date) ? DEFAULT_RATE_PAUSE_MS : Math.max(100, date - clock.now());
}

/** Returns the more informative of two responses: any response is preferred to the report of an unknown method. */
const betterOf = (one: Reading | null, other: Reading): Reading =>
  one === null || (one.isUnknown && !other.isUnknown) ? other : one;
