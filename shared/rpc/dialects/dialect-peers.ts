import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo, flat, jsonOf } from "#shared/lib/text.ts";
import { type Contact, type Memory, seatOf, type Wordings } from "#shared/protocol/dialects/dialect.ts";
import {
  type Attempt,
  attemptsFor,
  attemptsOf,
  bodyOf,
  type Form,
  isSameForm,
} from "#shared/protocol/dialects/forms.ts";
import {
  acceptanceIn,
  isLater,
  isMethodUnknown,
  moveIn,
  type Reading,
  readingOf,
  reasonIn,
} from "#shared/protocol/dialects/incoming-answers.ts";
import { dialects } from "#shared/protocol/dialects/registry.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MoveRequest } from "#shared/protocol/messages.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { CallFault, CallOptions } from "#shared/rpc/peer/call.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import { type AnswerKind, LateAnswers } from "./late-answers.ts";

/** The options of a call to an agent that may speak another dialect. */
export interface DialectCallOptions extends CallOptions {
  /** The dialect of the called player; null for the native one. */
  readonly contact?: Contact | null;
}

/** A client for other agents that translates messages to players of other dialects, and their answers. Native calls pass unchanged. */
export interface DialectPeers extends Peers {
  message(endpoint: string, envelope: Envelope, options: DialectCallOptions): Promise<Result<Envelope, CallFault>>;
  notify(endpoint: string, envelope: Envelope, options: DialectCallOptions): Promise<Result<null, CallFault>>;
}

/** A client with the answers that arrive in separate requests. */
export interface DialectClient extends DialectPeers {
  /** The answers that players send in separate requests. */
  readonly lateAnswers: LateAnswers;
}

interface Translator {
  readonly peers: Peers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly lateAnswers: LateAnswers;
  readonly conversations: Map<string, Conversation>;
  nextId: number;
}

/** The largest number of players whose forms are remembered. */
const MAX_CONVERSATIONS = 5_000;

/** Adds the other dialects to a client. The message of a call without `contact` is sent unchanged. */
export function withDialects(peers: Peers, comesFrom: Network["comesFrom"], clock: Clock, ids: Ids): DialectClient {
  const lateAnswers = new LateAnswers(comesFrom);
  const translator: Translator = { peers, clock, ids, lateAnswers, conversations: new Map(), nextId: 1 };
  return {
    ...peers,
    lateAnswers,
    message(endpoint, envelope, options) {
      const { contact, ...call } = options;
      return contact
        ? request(translator, contact, endpoint, envelope, call)
        : peers.message(endpoint, envelope, options);
    },
    notify(endpoint, envelope, options) {
      const { contact, ...call } = options;
      if (!contact) return peers.notify(endpoint, envelope, options);
      return notify(translator, contact, endpoint, envelope, call).catch(asRefused);
    },
  };
}

/** Sends a request and translates its answer. A message that the dialect does not have counts as acknowledged. */
async function request(
  translator: Translator,
  contact: Contact,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<Envelope, CallFault>> {
  const { talk, messages } = encoded(translator, contact, endpoint, envelope);
  const wordings = messages.at(-1);
  if (!wordings) return ok(answerTo(translator, contact, envelope, "ACK", {}));
  return inTurn(talk, async () => {
    const limits = limitsOf(translator, options, options.retry ?? false);
    for (const earlier of messages.slice(0, -1)) await announce(translator, talk, contact, earlier, limits);
    const { type } = envelope;
    if (type === "GAME_INVITE" || type === "MOVE_REQUEST")
      return ask(translator, talk, contact, wordings, envelope, limits);
    const reply = await announce(translator, talk, contact, wordings, limits);
    // An error of the player shows that it is there; only a failed connection is a fault.
    if (!reply.ok && reply.error.cause !== "bad_reply") return reply;
    return ok(answerTo(translator, contact, envelope, "ACK", {}));
  });
}

async function notify(
  translator: Translator,
  contact: Contact,
  endpoint: string,
  envelope: Envelope,
  options: CallOptions,
): Promise<Result<null, CallFault>> {
  const { talk, messages } = encoded(translator, contact, endpoint, envelope);
  if (messages.length === 0) return ok(null);
  return inTurn(talk, async () => {
    let last: Result<null, CallFault> = ok(null);
    for (const wordings of messages) {
      // A player may register before it listens.
      last = await announce(translator, talk, contact, wordings, limitsOf(translator, options, true));
    }
    return last;
  });
}

function encoded(
  { conversations }: Translator,
  contact: Contact,
  endpoint: string,
  envelope: Envelope,
): { readonly talk: Conversation; readonly messages: readonly Wordings[] } {
  if (conversations.size > MAX_CONVERSATIONS) conversations.clear();
  const talk = conversations.get(endpoint) ?? newConversation(endpoint);
  conversations.set(endpoint, talk);
  return { talk, messages: dialects[contact.id].encode(envelope, contact, talk.memory) };
}

/** Runs `send` after the earlier messages to the same player. */
function inTurn<T>(talk: Conversation, send: () => Promise<T>): Promise<T> {
  const sent = talk.turn.then(send, send);
  talk.turn = sent.catch(() => {});
  return sent;
}

const limitsOf = ({ clock }: Translator, { timeoutMs, signal }: CallOptions, retry: boolean): Limits => ({
  deadlineMs: clock.monotonic() + timeoutMs,
  signal,
  retry,
});

/** Sends an invitation or a move request, and waits for the answer in the response or in a request of the player. */
async function ask(
  translator: Translator,
  talk: Conversation,
  contact: Contact,
  wordings: Wordings,
  envelope: Envelope,
  limits: Limits,
): Promise<Result<Envelope, CallFault>> {
  const { clock, lateAnswers } = translator;
  const read = readerOf(contact, envelope);
  const kind: AnswerKind = envelope.type === "GAME_INVITE" ? "join_ack" : "move";
  const matchId = String(envelope.payload.match_id);
  const expected = lateAnswers.expect({ contact, endpoint: talk.endpoint, kind, matchId });
  try {
    const expectation: Expectation = { isAnswer: (reading) => read(reading) !== null, late: expected.answer };
    const reply = await exchange(translator, talk, contact, wordings, limits, expectation);
    if (!reply.ok) return reply;
    const first = read(reply.value);
    const reading =
      first !== null || reply.value.error !== null ? reply.value : await lateOf(clock, expected.answer, limits);
    const payload = first ?? (reading && read(reading));
    if (payload) return ok(answerTo(translator, contact, envelope, payload.type, payload.fields));
    return err(noAnswer(reading ?? reply.value, kind, reading === null));
  } finally {
    expected.close();
  }
}

async function lateOf(clock: Clock, answer: Promise<Reading>, { deadlineMs, signal }: Limits): Promise<Reading | null> {
  const arrived = new AbortController();
  const signals = signal ? [arrived.signal, signal] : [arrived.signal];
  const timeout = clock.pause(Math.max(0, deadlineMs - clock.monotonic()), AbortSignal.any(signals)).then(() => null);
  const reading = await Promise.race([answer, timeout]);
  arrived.abort();
  return reading;
}

interface NativeAnswer {
  readonly type: "GAME_INVITE_RESPONSE" | "MOVE_RESPONSE";
  readonly fields: object;
}

/** Returns the function that reads the answer to a request. It returns null if a reading does not answer the request. */
function readerOf(contact: Contact, { type, payload }: Envelope): (reading: Reading) => NativeAnswer | null {
  const { match_id } = payload;
  if (type === "GAME_INVITE") {
    return (reading) => {
      const accept = acceptanceIn(reading) ?? (contact.id === "league.v1" && reading.error === null ? true : null);
      if (accept === null || (reading.isUnknown && reading.bodyError !== null)) return null;
      const reason = accept ? null : (reasonIn(reading) ?? reading.error);
      return { type: "GAME_INVITE_RESPONSE", fields: { match_id, accept, reason, answer: innermost(reading) } };
    };
  }
  const request = payload as MoveRequest;
  const { game } = seatOf(contact);
  return (reading) => {
    if (reading.bodyError !== null) return null;
    const move = moveIn(reading, { game, request });
    if (!move) return null;
    const fields = { match_id, tick: request.tick, move: move.action, answer: innermost(reading) };
    return { type: "MOVE_RESPONSE", fields };
  };
}

/** The answer as the player has sent it, for the text of a fault. */
const innermost = ({ objects }: Reading): unknown => objects.at(-1);

function noAnswer({ error, objects }: Reading, kind: AnswerKind, isTimeout: boolean): CallFault {
  const raw = jsonOf(objects[0]);
  const shown = cutTo(200, raw);
  if (error !== null) return { cause: "bad_reply", detail: error, raw };
  const expected = kind === "join_ack" ? "accept the invitation" : "contain a move";
  if (!isTimeout) return { cause: "bad_reply", detail: `the answer does not ${expected}: ${shown}`, raw };
  const later = "and no other answer followed within the time limit";
  return { cause: "timeout", detail: `the response ${shown} does not ${expected}, ${later}`, raw };
}

/** Returns an answer as the native message that the player would have sent. */
const answerTo = (
  { clock, ids }: Translator,
  { playerId }: Contact,
  { message_id }: Envelope,
  type: "ACK" | NativeAnswer["type"],
  payload: object,
): Envelope =>
  newEnvelope(type, flat("player:", playerId), payload, {
    messageId: ids.uuid(),
    correlationId: message_id,
    at: clock.iso(),
  });

/** The state of the exchange with one player of another dialect: its endpoint and the forms that it understands. */
interface Conversation {
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
interface Limits {
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
interface Expectation {
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
async function announce(
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
