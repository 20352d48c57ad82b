import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import type { Contact } from "#shared/protocol/dialects/dialect.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MessageType } from "#shared/protocol/messages.ts";
import { type DialectClient, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import type { CallFault, CallOptions } from "#shared/rpc/peer/call.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openPool } from "#shared/rpc/peer/targets.ts";
import type { Exchange } from "../wire/exchange.ts";
import { Recorder, recordingPools } from "../wire/recorder.ts";
import { contactOf, type Subject, signatureFor } from "./subject.ts";

/** A message to the player with its answer. A notification has the answer null if it was delivered. */
export interface Call {
  readonly message: Envelope;
  readonly isNotification: boolean;
  /** Whether the message was sent in the native dialect. */
  readonly isNative: boolean;
  readonly answer: Result<Envelope | null, CallFault>;
  /** The exchanges of the call, in order; a call whose connection fails is repeated. */
  readonly exchanges: readonly Exchange[];
}

export const LEAGUE_ID = "check";
export const REFEREE = "referee:REF01";
const MANAGER = "league_manager:LM01";

/** Sends league messages to the player as manager and referees do, and records each call. */
export class Caller {
  readonly calls: Call[] = [];
  /** The client for matches. It records each call in `calls`. */
  readonly peers: DialectClient;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
    const recorder = new Recorder();
    const inner = withDialects(createPeers({ clock, openPool: recordingPools(openPool, recorder, clock) }), clock, ids);
    const recorded = async <T extends Envelope | null>(
      message: Envelope,
      isNotification: boolean,
      contact: Contact | null | undefined,
      send: () => Promise<Result<T, CallFault>>,
    ): Promise<Result<T, CallFault>> => {
      const { value: answer, exchanges } = await recorder.record(send);
      if (!answer.ok) await clock.nextTurn(); // the connection of a call without an answer is closed after the call
      this.calls.push({ message, isNotification, isNative: !contact, answer, exchanges });
      return answer;
    };
    this.peers = {
      ...inner,
      message: (endpoint, message, options) =>
        recorded(message, false, options.contact, () => inner.message(endpoint, message, options)),
      notify: (endpoint, message, options) =>
        recorded(message, true, options.contact, () => inner.notify(endpoint, message, options)),
    };
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

  /** Sends a message and resolves with the call. */
  async call(subject: Subject, message: Envelope, limitMs: number, retry = true): Promise<Call> {
    await this.peers.message(subject.endpoint, message, { timeoutMs: limitMs, retry, contact: contactOf(subject) });
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
