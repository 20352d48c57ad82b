import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { cutTo, flat, jsonOf } from "../../lib/text.ts";
import { acceptanceIn, type Reading, reasonIn } from "../../protocol/dialects/answers.ts";
import { type Contact, seatOf, type Wordings } from "../../protocol/dialects/dialect.ts";
import { moveIn } from "../../protocol/dialects/moves.ts";
import { dialects } from "../../protocol/dialects/registry.ts";
import { type Envelope, newEnvelope } from "../../protocol/envelope.ts";
import type { MoveRequest } from "../../protocol/messages.ts";
import type { Network } from "../network.ts";
import type { CallFault, CallOptions } from "../peer/call.ts";
import { asRefused, type Peers } from "../peer/peer.ts";
import {
  announce,
  type Conversation,
  type Expectation,
  exchange,
  type Limits,
  newConversation,
} from "./conversation.ts";
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
