import type { Clock } from "../../lib/clock.ts";
import { err, ok } from "../../lib/result.ts";
import { idOf, statusOf } from "../jsonrpc/json-rpc.ts";
import type { FrameEvents, Frames, SocketEnd } from "../websocket/frames.ts";
import { type MessageSocket, messageSocket } from "../websocket/message-socket.ts";
import { type Call, DEFAULT_REPLY_BYTES, parsed, type Request, tooLarge } from "./call.ts";
import { endFailed } from "./connection-fault.ts";

/** The largest accepted message, in bytes. A call with a larger limit for its answer is made by POST. */
export const MAX_MESSAGE_BYTES = DEFAULT_REPLY_BYTES;
/** The largest number of calls under way on one WebSocket. It equals the number of connections to one origin. */
export const MAX_CALLS = 128;
/** A WebSocket takes no more calls while the peer has not read this number of bytes. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** The largest number of messages that answer no call under way, such as late answers. */
const MAX_IGNORED = 1_000;
/** The interval of pings. A connection that is lost without an error is recognized within two intervals, before most time limits of moves. */
const PING_INTERVAL_MS = 10_000;
const PROTOCOL_ERROR = 1002;

interface CallSocketEvents {
  /** Called for each answer to a call under way. */
  onAnswer(): void;
  /** Called once, when the WebSocket has closed. The calls under way have failed. */
  onEnd(): void;
}

/** An open WebSocket to another agent, and the calls under way on it. Answers are matched by their JSON-RPC ids. */
export class CallSocket {
  readonly #socket: MessageSocket;
  readonly #events: CallSocketEvents;
  readonly #calls = new Map<number, Call>();
  readonly #closed = Promise.withResolvers<void>();
  #hasAnswered = false;
  #lastId = 0;
  #ignoredCount = 0;
  #isEnded = false;

  constructor(frames: (events: FrameEvents) => Frames, clock: Clock, events: CallSocketEvents) {
    this.#events = events;
    const accept = () => ({
      onMessage: (text: string) => this.#onMessage(text),
      onClose: (end: SocketEnd) => {
        this.#end(end);
        this.#closed.resolve();
      },
    });
    this.#socket = messageSocket(frames, accept, clock, PING_INTERVAL_MS);
  }

  /** Whether no call is under way. */
  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  /** Whether the WebSocket takes another call. */
  get isFree(): boolean {
    return this.#calls.size < MAX_CALLS && this.#socket.bufferedBytes <= MAX_BUFFERED_BYTES;
  }

  /**
   * Sends the request of a call. The answer is ignored if the call settles before. If no call has been answered until then, the WebSocket is closed,
   * because a proxy may have accepted it without forwarding its messages.
   */
  send({ id, body }: Request, call: Call): void {
    this.#calls.set(id, call);
    this.#lastId = Math.max(this.#lastId, id);
    call.onSettled = (isAnswered) => {
      this.#calls.delete(id);
      if (!isAnswered && !this.#hasAnswered) void this.close(PROTOCOL_ERROR, "no answer");
    };
    this.#socket.send(body ?? "");
  }

  /** Ends the calls under way as after a lost connection, and closes the WebSocket. Resolves when it is closed. */
  close(code: number, reason: string): Promise<void> {
    if (this.#isEnded) return this.#closed.promise;
    this.#end({ error: null, isTooLarge: false });
    this.#socket.close(code, reason);
    return this.#closed.promise;
  }

  #onMessage(text: string): void {
    if (this.#isEnded) return;
    const json = parsed(text);
    const id = idOf(json?.value);
    const call = this.#calls.get(id as number) ?? this.#onlyCall(id);
    if (call) {
      this.#hasAnswered = true;
      this.#events.onAnswer();
      const isTooLarge = call.maxReplyBytes < MAX_MESSAGE_BYTES && Buffer.byteLength(text) > call.maxReplyBytes;
      call.settle(isTooLarge ? tooLarge(call.maxReplyBytes) : ok({ status: statusIn(json?.value), text, json }));
    } else if (!this.#isEarlier(id) || ++this.#ignoredCount > MAX_IGNORED) {
      void this.close(PROTOCOL_ERROR, "a message that answers no request");
    }
  }

  /** Returns the only call under way for a message without the id of an earlier call. A reply by POST with such an id would also be an answer to its call. */
  #onlyCall(id: unknown): Call | undefined {
    if (this.#calls.size !== 1 || this.#isEarlier(id)) return;
    return this.#calls.values().next().value;
  }

  /** Whether an id can be that of a call that has settled: an answer may be late or repeated. */
  #isEarlier(id: unknown): boolean {
    return typeof id === "number" && Number.isInteger(id) && id > 0 && id <= this.#lastId;
  }

  #end({ error, isTooLarge }: SocketEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const calls = [...this.#calls.values()];
    const [only] = calls;
    this.#events.onEnd();
    if (isTooLarge && calls.length === 1) only?.settle(tooLarge(only.maxReplyBytes));
    for (const call of calls) {
      if (error) endFailed(call, error);
      else call.settle(LOST);
    }
  }
}

/** The result of a call whose WebSocket was closed before the answer. */
export const LOST = err({
  cause: "refused",
  detail: "connection closed before the end of the answer",
  systemMessage: "the WebSocket was closed",
} as const);

/** Returns the HTTP status that an answer by POST would have. */
function statusIn(answer: unknown): number {
  const error = typeof answer === "object" && answer !== null && "error" in answer ? answer.error : null;
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return typeof code === "number" ? statusOf(code) : 200;
}
