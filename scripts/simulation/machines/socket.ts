import { mcpSocket } from "#shared/rpc/http/upgrade.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { messageSocket } from "#shared/rpc/websocket/message-socket.ts";
import type { FrameEvents, Frames, OpeningEvents, SocketAddress } from "#shared/rpc/websocket/websocket.ts";
import {
  type Link,
  type ObservedRequest,
  resetError,
  routed,
  type Server,
  type Wire,
  whenRunning,
} from "./connection.ts";

type Side = "client" | "server";

const otherSide = { client: "server", server: "client" } as const;

/** A WebSocket at `/mcp` of a simulated server, with the production code at both ends. Each frame is delivered, delayed or lost independently. Frames keep their order. */
export class SocketConnection implements Link {
  readonly #wire: Wire;
  readonly #from: string;
  readonly #origin: string;
  readonly #address: SocketAddress;
  readonly #opening: OpeningEvents;
  readonly #onEnd: () => void;
  readonly #closed = new AbortController();
  /** The ends that are open. */
  readonly #ends = new Map<Side, FrameEvents>();
  /** The arrival of the last frame of each side. */
  readonly #arrivals = { client: 0, server: 0 };
  #server: Server | null = null;
  #isOpening = true;
  /** Whether frames are lost without an error. */
  #isDeaf = false;

  constructor(wire: Wire, from: string, address: SocketAddress, opening: OpeningEvents, onEnd: () => void) {
    this.#wire = wire;
    this.#from = from;
    this.#origin = routed(wire, new URL(address.url.replace(/^ws/, "http")).origin);
    this.#address = address;
    this.#opening = opening;
    this.#onEnd = onEnd;
    wire.scheduler.after(0, () => this.#request());
  }

  /** Cancels the opening. */
  cancel(): void {
    if (!this.#isOpening) return;
    this.#isOpening = false;
    this.#close("server", null);
    this.#end();
  }

  /** Closes the client's end without notifying the client, because it was killed. */
  drop(): void {
    this.#isOpening = false;
    this.#ends.delete("client");
    this.#close("server", resetError());
    this.#end();
  }

  /** Ends the opening with a failure, or closes both ends. Without an error they have a closing handshake. */
  fail(error: Error | null): void {
    if (this.#isOpening) {
      this.#isOpening = false;
      this.#opening.onFail();
    }
    this.#close("server", error);
    this.#close("client", error);
    this.#end();
  }

  #request(): void {
    if (!this.#isOpening) return;
    const { scheduler, servers, fateOf } = this.#wire;
    const machine = servers.get(this.#origin)?.machine ?? this.#origin;
    const fate = fateOf(this.#from, machine);
    scheduler.after(fate.requestMs, () => {
      if (fate.request === "reset") this.fail(resetError());
      else if (fate.request !== "silent")
        whenRunning(this.#wire, machine, () => void this.#accept(fate.reply, fate.replyMs));
    });
  }

  /** Opens the server's end, and then the client's if the answer arrives. */
  async #accept(reply: "arrives" | "reset" | "silent", replyMs: number): Promise<void> {
    const { scheduler, servers } = this.#wire;
    const server = servers.get(this.#origin);
    if (!this.#isOpening) return;
    if (!server?.takesSockets) return this.fail(resetError());
    this.#server = server;
    server.open.add(this);
    const http: HttpContext = {
      ...{ bearer: this.#address.bearer ?? null, remoteAddress: this.#wire.addressOf(this.#from) },
      abortSignal: () => this.#closed.signal,
    };
    const verdict = await server.options.gate?.("", http);
    if (!this.#isOpening) return;
    if (verdict?.rejection) return this.fail(resetError());
    this.#openServer(server, http);
    scheduler.after(replyMs, () => {
      if (!this.#isOpening || reply === "silent") return;
      if (reply === "reset") return this.fail(resetError());
      this.#isOpening = false;
      this.#opening.onOpen((events) => this.#frames("client", events));
    });
  }

  #openServer(server: Server, http: HttpContext): void {
    const { handler, gate, log } = server.options;
    const answer: typeof handler = async (body, context) => {
      const reply = await handler(body, context);
      if (!server.isClosed) this.#wire.onAnswer(this.#observed(server, body), reply.body);
      return reply;
    };
    const onError = (thrown: unknown): void => log.error({ err: thrown }, "internal error");
    const accept = mcpSocket({ handler: answer, gate, onError }, http);
    messageSocket((events) => this.#frames("server", events), accept, server.clock);
  }

  #observed({ machine }: Server, body: string): ObservedRequest {
    return { from: this.#from, to: machine, body, isOverSocket: true };
  }

  #frames(side: Side, events: FrameEvents): Frames {
    this.#ends.set(side, events);
    const other = otherSide[side];
    const pong = (): void => this.#transmit(other, () => events.onPong());
    return {
      send: (text) => {
        const sentAt = this.#wire.scheduler.now();
        this.#transmit(side, () => this.#deliver(other, text, sentAt));
      },
      ping: () => this.#transmit(side, pong),
      bufferedBytes: 0,
      close: () => this.#transmit(side, () => this.fail(null)),
      terminate: () => {
        this.#close(side, null);
        this.#transmit(side, () => this.#close(other, null));
      },
    };
  }

  #deliver(side: Side, text: string, sentAt: number): void {
    const events = this.#ends.get(side);
    if (!events) return;
    if (side === "server" && this.#server) this.#wire.onRequest(this.#observed(this.#server, text), sentAt);
    events.onText(text);
  }

  /** Sends something from one side to the other: `arrive` runs when it arrives. */
  #transmit(side: Side, arrive: () => void): void {
    const { scheduler, fateOf } = this.#wire;
    const machines = { client: this.#from, server: this.#server?.machine ?? this.#origin };
    const fate = fateOf(machines[side], machines[otherSide[side]]);
    if (fate.request === "silent") this.#isDeaf = true;
    if (this.#isDeaf) return;
    const arrivesAt = Math.max(this.#arrivals[side], scheduler.now() + fate.requestMs);
    this.#arrivals[side] = arrivesAt;
    scheduler.after(arrivesAt - scheduler.now(), () => {
      if (fate.request === "reset") return this.fail(resetError());
      whenRunning(this.#wire, machines[otherSide[side]], () => {
        arrive();
        if (fate.request === "arrives twice") arrive();
      });
    });
  }

  #close(side: Side, error: Error | null): void {
    const events = this.#ends.get(side);
    this.#ends.delete(side);
    events?.onClose({ error, isTooLarge: false });
    if (this.#ends.size === 0) this.#end();
  }

  #end(): void {
    this.#closed.abort();
    this.#server?.open.delete(this);
    this.#onEnd();
  }
}
