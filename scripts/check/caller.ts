import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { type Envelope, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import { type DialectCallOptions, type DialectClient, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import type { CallFault, CallOptions } from "#shared/rpc/peer/call.ts";
import { openPool } from "#shared/rpc/peer/http-transport.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { SeatedPlayer } from "../../referee/match/player-messages.ts";
import { type Exchange, isInboxUrl, Recorder, recordingPools } from "./exchange.ts";
import { contactOf, type Subject, signatureFor } from "./subject.ts";
import { unusualPost } from "./unusual-post.ts";

/** A message to the player with its answer. A notification has the answer null if it was delivered. */
export interface Call {
  readonly message: Envelope;
  readonly isNotification: boolean;
  /** Whether the message was sent in the native dialect. */
  readonly isNative: boolean;
  readonly answer: Result<Envelope | null, CallFault>;
  /** The exchanges of the call, in order; a call whose connection fails is repeated. */
  readonly exchanges: readonly Exchange[];
  /** Whether the player has answered an earlier call. */
  readonly wasAnswered: boolean;
  /** The cause of a call without an answer within its time limit; null until `findCauses` has found it, and for all other calls. */
  readonly overrun: Overrun | null;
}

export interface Overrun {
  readonly limitMs: number;
  /**
   * The bot that the check has started, or a player of the user: the time in which it has answered the same request when
   * it was sent again, with more time; null if it has not answered.
   */
  readonly by: "bot" | { readonly answerMs: number | null };
}

/** How long the check waits for the answer to a request that it sends again after a call without an answer. */
const secondLimitMs = (limitMs: number): number => Math.min(60_000, 5_000 + 2 * limitMs);

export const LEAGUE_ID = "check";
export const REFEREE = "referee:REF01";
const MANAGER = "league_manager:LM01";

/** Sends league messages to the player as manager and referees do, and records each call. */
export class Caller {
  readonly calls: Call[] = [];
  /** Calls without an answer within their time limit, whose cause is not known yet. */
  readonly #unexplained: { readonly call: { overrun: Overrun | null } & Call; readonly limitMs: number }[] = [];
  /** The client for matches. It records each call in `calls`. */
  readonly peers: DialectClient;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #startsBot: boolean;
  /** The second attempt at the first request without an answer. It is made once, because it takes long. */
  #secondAttempt: Promise<Exchange> | null = null;

  /** `startsBot`: whether the check itself starts the player, with a bot. */
  constructor(clock: Clock, ids: Ids, { startsBot = false }: { readonly startsBot?: boolean } = {}) {
    this.#clock = clock;
    this.#ids = ids;
    this.#startsBot = startsBot;
    const recorder = new Recorder();
    const recording = createPeers({ clock, openPool: recordingPools(openPool, recorder, clock) });
    const inner = withDialects(recording, httpNetwork(clock).comesFrom, clock, ids);
    const recorded = async <T extends Envelope | null>(
      message: Envelope,
      isNotification: boolean,
      { contact, timeoutMs: limitMs }: Pick<DialectCallOptions, "contact" | "timeoutMs">,
      send: () => Promise<Result<T, CallFault>>,
    ): Promise<Result<T, CallFault>> => {
      const { value: answer, exchanges } = await recorder.record(send);
      if (!answer.ok) await clock.nextTurn(); // the connection of a call without an answer is closed after the call
      const wasAnswered = this.calls.some((call) => call.answer.ok);
      const isNative = !contact;
      const call = { message, isNotification, isNative, answer, exchanges, wasAnswered, overrun: null };
      this.calls.push(call);
      const isOverrun = !answer.ok && answer.error.cause === "timeout" && !isNotification && isNative;
      if (isOverrun) this.#unexplained.push({ call, limitMs });
      return answer;
    };
    this.peers = {
      ...inner,
      message: (endpoint, message, options) =>
        recorded(message, false, options, () => inner.message(endpoint, message, options)),
      notify: (endpoint, message, options) =>
        recorded(message, true, options, () => inner.notify(endpoint, message, options)),
    };
  }

  /** Finds out why calls had no answer within their limit. Must be awaited outside of the time limit of a match, and before its result is sent. */
  async findCauses(): Promise<void> {
    for (const { call, limitMs } of this.#unexplained.splice(0)) {
      call.overrun = await this.#overrunOf(call.exchanges.at(-1), limitMs);
    }
  }

  async #overrunOf(exchange: Exchange | undefined, limitMs: number): Promise<Overrun | null> {
    if (this.#startsBot) return { limitMs, by: "bot" };
    if (!exchange || exchange.reply !== null || isInboxUrl(exchange.url)) return null;
    const { url, request: body } = exchange;
    this.#secondAttempt ??= unusualPost({ url, body, limitMs: secondLimitMs(limitMs) }, this.#clock);
    const { reply, fault, durationMs } = await this.#secondAttempt;
    return { limitMs, by: { answerMs: reply && fault === null ? durationMs : null } };
  }

  /** Returns an envelope of the referee about a match, signed for the player. */
  matchMessage(subject: Subject, type: MessageType, payload: { readonly match_id: string }): Envelope {
    return this.envelope(REFEREE, type, payload, signatureFor(subject, `${LEAGUE_ID}/${payload.match_id}`));
  }

  envelope(sender: string, type: MessageType, payload: object, authToken: string | undefined): Envelope {
    const about = { messageId: this.#ids.uuid(), at: this.#clock.iso() };
    return newEnvelope(type, sender, payload, authToken === undefined ? about : { ...about, authToken });
  }

  /** The tokens and signatures that the messages so far contain. */
  secrets(): readonly string[] {
    return [...new Set(this.calls.flatMap(({ message }) => message.auth_token ?? []))];
  }

  /** Sends a message about a match to the player at its seat, and resolves with the call. */
  async call(
    { endpoint, contact = null }: Pick<SeatedPlayer, "endpoint" | "contact">,
    message: Envelope,
    limitMs: number,
    retry = true,
  ): Promise<Call> {
    await this.peers.message(endpoint, message, { timeoutMs: limitMs, retry, contact });
    await this.findCauses();
    return this.#callOf(message);
  }

  /** Sends an announcement of the manager, signed for the player, and resolves with the call. */
  async announce(subject: Subject, type: MessageType, payload: object, options: CallOptions): Promise<Call> {
    const message = this.envelope(
      MANAGER,
      type,
      { league_id: LEAGUE_ID, ...payload },
      signatureFor(subject, LEAGUE_ID),
    );
    await this.peers.notify(subject.endpoint, message, { ...options, contact: contactOf(subject) });
    return this.#callOf(message);
  }

  #callOf(message: Envelope): Call {
    const call = this.calls.findLast((one) => one.message === message);
    if (!call) throw new Error("the call was not recorded");
    return call;
  }
}
