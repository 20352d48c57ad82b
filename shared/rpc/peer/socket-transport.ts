import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { idOf, statusOf } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { type MessageSocket, messageSocket } from "#shared/rpc/websocket/message-socket.ts";
import type { FrameEvents, Frames, OpenSocket, SocketAddress, SocketEnd } from "#shared/rpc/websocket/websocket.ts";
import { type Call, DEFAULT_REPLY_BYTES, endFailed, parsed, type Request, type Transport, tooLarge } from "./call.ts";

/** The time after the last call until the WebSocket to an endpoint is closed. */
const IDLE_MS = 5 * 60_000;
/** The largest number of WebSockets of a process. Calls to further endpoints are made by POST. */
const MAX_SOCKETS = 5_000;
const NORMAL = 1000;
const GOING_AWAY = 1001;

interface SocketTransportOptions {
  readonly clock: Clock;
  readonly open: OpenSocket;
  /** Sends the calls for which there is no WebSocket at the moment. */
  readonly fallback: Transport;
}

/**
 * Creates the transport that sends calls over one WebSocket for each endpoint and bearer token: the request for the WebSocket carries the token. The
 * first call opens the WebSocket. `fallback` sends the calls if the WebSocket cannot be opened, from its loss until it is open again, and if it is
 * busy. When a WebSocket is lost its calls fail as after a lost connection, so `fallback` sends their repetitions.
 */
export function createSocketTransport({ clock, open, fallback }: SocketTransportOptions): Transport {
  const sockets = new Map<string, EndpointSocket>();
  let isClosed = false;

  const closeIdle = (): void => {
    for (const [key, socket] of sockets) {
      if (!socket.isIdle || clock.monotonic() - socket.usedAtMs <= IDLE_MS) continue;
      sockets.delete(key);
      void socket.close(NORMAL, "no calls for some time");
    }
  };

  const add = (key: string, endpoint: string, bearer: string | undefined): EndpointSocket | null => {
    closeIdle();
    const url = socketUrl(endpoint);
    if (url === null || sockets.size >= MAX_SOCKETS) return null;
    const address = { url, bearer, maxMessageBytes: MAX_MESSAGE_BYTES };
    const socket = new EndpointSocket({ clock, address, open, fallback });
    sockets.set(key, socket);
    return socket;
  };

  return {
    send(request, call) {
      const isFit = call.maxReplyBytes <= MAX_MESSAGE_BYTES && !call.closesConnection && !isClosed;
      if (!isFit) return fallback.send(request, call);
      const key = `${call.bearer ?? ""} ${request.endpoint}`;
      const socket = sockets.get(key) ?? add(key, request.endpoint, call.bearer);
      (socket ?? fallback).send(request, call);
    },
    async close() {
      isClosed = true;
      await Promise.all([...sockets.values()].map((socket) => socket.close(GOING_AWAY, "the client is closed")));
      sockets.clear();
    },
  };
}

/** Returns the URL of the WebSocket at an endpoint; null if the endpoint is not an http or https URL. */
function socketUrl(endpoint: string): string | null {
  const url = parseEndpoint(endpoint);
  if (!url) return null;
  return `${url.protocol === "https:" ? "wss:" : "ws:"}//${url.host}${url.pathname}${url.search}`;
}

/** The time that a WebSocket has to open. The calls that wait for the first opening are then made by POST. */
const OPENING_MS = 2_000;
/** The pause before a lost or refused WebSocket is opened again. It doubles with each failure until a call is answered. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

interface EndpointSocketOptions {
  readonly clock: Clock;
  readonly address: SocketAddress;
  readonly open: OpenSocket;
  /** Sends the calls that the WebSocket does not take. */
  readonly fallback: Transport;
}

/** The state of the WebSocket to an endpoint. */
type State =
  /** No WebSocket. A call at `openAtMs` (monotonic) or later opens one. */
  | { readonly name: "none"; readonly openAtMs: number }
  /** Calls wait for the first opening. They do not wait for a later one, because it has failed before. */
  | { readonly name: "opening"; readonly waiting: { readonly request: Request; readonly call: Call }[] }
  | { readonly name: "open"; readonly socket: CallSocket };

/** The WebSocket to one endpoint with one bearer token. It is opened by a call, and again some time after it was lost. */
class EndpointSocket {
  readonly #options: EndpointSocketOptions;
  #state: State = { name: "none", openAtMs: 0 };
  /** The number of failures since the last answer. */
  #failures = 0;
  #cancelOpening: Cancel = () => {};
  /** Monotonic time of the last call, in milliseconds. */
  usedAtMs = 0;

  constructor(options: EndpointSocketOptions) {
    this.#options = options;
  }

  /** Whether no call is under way or waits. */
  get isIdle(): boolean {
    const state = this.#state;
    return state.name === "none" || (state.name === "open" && state.socket.isIdle);
  }

  /** Sends a call over the WebSocket, or by the fallback if there is none or it is busy. */
  send(request: Request, call: Call): void {
    const { clock, fallback } = this.#options;
    this.usedAtMs = clock.monotonic();
    if (this.#state.name === "none" && this.#state.openAtMs <= this.usedAtMs) this.#open();
    const state = this.#state;
    const canWait = state.name === "opening" && this.#failures === 0 && state.waiting.length < MAX_CALLS;
    if (canWait) state.waiting.push({ request, call });
    else if (state.name === "open" && state.socket.isFree) state.socket.send(request, call);
    else fallback.send(request, call);
  }

  /** Closes the WebSocket. Calls under way fail. Resolves when it is closed. */
  async close(code: number, reason: string): Promise<void> {
    const state = this.#state;
    this.#cancelOpening();
    this.#state = { name: "none", openAtMs: Number.POSITIVE_INFINITY };
    if (state.name === "opening") for (const { call } of state.waiting) call.settle(LOST);
    if (state.name === "open") await state.socket.close(code, reason);
  }

  #open(): void {
    const { clock, address, open } = this.#options;
    const opening: State = { name: "opening", waiting: [] };
    this.#state = opening;
    const onFail = (): void => {
      if (this.#state === opening) this.#end(null);
    };
    const cancel = open(address, clock, {
      onOpen: (frames) => {
        const events = { onAnswer: () => this.#onAnswer(), onEnd: () => this.#onEnd(socket) };
        const socket = new CallSocket(frames, clock, events);
        this.#end(socket);
      },
      onFail,
    });
    const cancelTimer = clock.after(OPENING_MS, () => {
      cancel();
      onFail();
    });
    this.#cancelOpening = () => {
      cancelTimer();
      cancel();
    };
  }

  /** Ends the opening and sends the calls that have not settled meanwhile. */
  #end(socket: CallSocket | null): void {
    const waiting = this.#state.name === "opening" ? this.#state.waiting : [];
    this.#cancelOpening();
    this.#cancelOpening = () => {};
    if (socket) this.#state = { name: "open", socket };
    else this.#pause();
    for (const { request, call } of waiting) if (!call.isSettled) this.send(request, call);
  }

  #onAnswer(): void {
    this.#failures = 0;
  }

  #onEnd(socket: CallSocket): void {
    if (this.#state.name === "open" && this.#state.socket === socket) this.#pause();
  }

  #pause(): void {
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures++);
    this.#state = { name: "none", openAtMs: this.#options.clock.monotonic() + pauseMs };
  }
}

/** The largest accepted message, in bytes. A call with a larger limit for its answer is made by POST. */
const MAX_MESSAGE_BYTES = DEFAULT_REPLY_BYTES;
/** The largest number of calls under way on one WebSocket. It equals the number of connections to one origin. */
const MAX_CALLS = 128;
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
class CallSocket {
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
const LOST = err({
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
