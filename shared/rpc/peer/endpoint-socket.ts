import type { Cancel, Clock } from "../../lib/clock.ts";
import type { OpenSocket, SocketAddress } from "../websocket/open-socket.ts";
import type { Call, Request, Transport } from "./call.ts";
import { CallSocket, LOST, MAX_CALLS } from "./call-socket.ts";

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
export class EndpointSocket {
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
