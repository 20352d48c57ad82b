import type { IncomingMessage } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { Destination } from "#shared/rpc/http/forwarding.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { DispatchController, DispatchHandler, DispatchOptions } from "#shared/rpc/peer/http-transport.ts";
import type { Scheduler } from "./scheduler.ts";

/** Delays and losses of one request and its reply. */
export interface Fate {
  /** The delay of the request, in ms. */
  readonly requestMs: number;
  /** The delay of the reply, in ms. */
  readonly replyMs: number;
  /** `reset`: the connection breaks before the arrival. `silent`: neither the message nor an error arrives. */
  readonly request: "arrives" | "arrives twice" | "reset" | "silent";
  readonly reply: "arrives" | "reset" | "silent";
  /** The time after its arrival at which the request arrives once more, in ms; absent if it does not. */
  readonly copyMs?: number;
}

/** A request between two machines, for observers of the simulation. */
export interface ObservedRequest {
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly isOverSocket: boolean;
  /** Whether the request is a late copy of one that has arrived before. */
  readonly isCopy?: true;
  /** Whether the request is a poll of an inbox. The messages in it are observed when referees put them into the inbox. */
  readonly isPoll?: true;
}

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly fateOf: (from: string, to: string) => Fate;
  /** The machines that accept no WebSockets, although their agents offer them. */
  readonly withoutSockets: readonly string[];
  /** Until when the process of a machine is stopped. What arrives meanwhile waits. */
  readonly stoppedUntil: (machine: string) => number;
  /** Returns the address from which the connections of a machine come. */
  readonly addressOf: (machine: string) => string;
  /** Returns the machine of the player with an id; undefined if no registration with it was answered yet. */
  readonly playerWith: (id: string) => string | undefined;
  /** The address that a proxy forwards to any of the machines for which `isBehind` returns true; null without a proxy. */
  readonly proxy: Proxy | null;
  /** Called when a request has arrived at a server, with the virtual time at which it was sent. */
  readonly onRequest: (observed: ObservedRequest, sentAt: number) => void;
  /** Called when a server has answered. The answer may be lost. */
  readonly onAnswer: (observed: ObservedRequest, reply: string) => void;
}

/** A proxy in front of several servers. It forwards each request to any server that listens. */
interface Proxy {
  readonly origin: string;
  readonly isBehind: (machine: string) => boolean;
  readonly random: Random;
}

/** An HTTP request or a WebSocket between two processes. */
export interface Link {
  /** Closes the connection without notifying the caller, e.g. because the caller was killed. */
  drop(): void;
  /** Closes the connection and passes the error to the caller. */
  fail(error: Error): void;
}

/** A listening server of a process. */
export interface Server {
  readonly machine: string;
  readonly options: ListenOptions;
  /** The clock of the process. */
  readonly clock: Clock;
  /** Whether the server accepts WebSockets. */
  readonly takesSockets: boolean;
  /** The accepted connections. */
  readonly open: Set<Link>;
  /** The pending answers. */
  readonly answering: Set<Promise<unknown>>;
  /** True after its process was killed or has closed it. A server that is closing still sends its pending answers. */
  isClosed: boolean;
}

/** The network with its servers, by origin. */
export interface Wire extends NetworkOptions {
  readonly servers: ReadonlyMap<string, Server>;
}

/** Calls `run` when the process of a machine runs: now, or after it was stopped. */
export function whenRunning({ scheduler, stoppedUntil }: NetworkOptions, machine: string, run: () => void): void {
  const stoppedMs = stoppedUntil(machine) - scheduler.now();
  if (stoppedMs > 0) scheduler.after(stoppedMs, run);
  else run();
}

/** Returns the origin of the server that answers a request to an origin. Every server has another port, so that the host does not matter. */
export function routed({ proxy, servers }: Wire, called: string): string {
  const origin = called.replace(/^http:\/\/[^:/]+/, `http://${HOST}`);
  if (origin !== proxy?.origin) return origin;
  const behind = [...servers].filter(([, { machine }]) => proxy.isBehind(machine));
  return behind.length > 0 ? proxy.random.pick(behind)[0] : origin;
}

/** The address of every server, and of most machines. */
export const HOST = "127.0.0.1";
const refusedError = (): Error => Object.assign(new Error(`connect ECONNREFUSED ${HOST}`), { code: "ECONNREFUSED" });
export const resetError = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

/** One request and its reply. */
export class Connection implements Link {
  readonly #wire: Wire;
  readonly #from: string;
  readonly #origin: string;
  readonly #request: DispatchOptions;
  readonly #handler: DispatchHandler;
  readonly #onEnd: () => void;
  readonly #closed = new AbortController();
  readonly #controller: DispatchController;
  #server: Server | null = null;
  /** The header with the caller of a request that a server has passed on. */
  #signature: Readonly<Record<string, string>> = {};
  #sentAt = 0;
  #isOver = false;

  constructor(
    wire: Wire,
    from: string,
    origin: string,
    request: DispatchOptions,
    handler: DispatchHandler,
    onEnd: () => void,
  ) {
    this.#wire = wire;
    this.#from = from;
    this.#origin = routed(wire, origin);
    this.#request = request;
    this.#handler = handler;
    this.#onEnd = onEnd;
    this.#controller = {
      abort: (reason: Error) => this.fail(reason),
    } as unknown as DispatchController;
    wire.scheduler.after(0, () => this.#send());
  }

  drop(): void {
    this.#isOver = true;
    this.#closed.abort();
    this.#server?.open.delete(this);
    this.#onEnd();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.drop();
    whenRunning(this.#wire, this.#from, () => this.#handler.onResponseError?.(this.#controller, error));
  }

  #send(): void {
    if (this.#isOver) return;
    this.#handler.onRequestStart?.(this.#controller, undefined);
    if (this.#isOver) return;
    const { scheduler, servers, fateOf } = this.#wire;
    this.#sentAt = scheduler.now();
    const fate = fateOf(this.#from, servers.get(this.#origin)?.machine ?? this.#origin);
    scheduler.after(fate.requestMs, () => this.#arrive(fate));
  }

  #arrive(fate: Fate): void {
    const server = this.#wire.servers.get(this.#origin);
    if (this.#isOver || fate.request === "silent") return;
    if (fate.request === "reset" || !server) {
      this.fail(server ? resetError() : refusedError());
      return;
    }
    if (this.#wire.stoppedUntil(server.machine) > this.#wire.scheduler.now()) {
      whenRunning(this.#wire, server.machine, () => this.#arrive(fate));
      return;
    }
    if (fate.copyMs !== undefined) this.#arriveLater(fate.copyMs);
    this.#arriveAt(server, fate);
  }

  #arriveAt(server: Server, fate: Fate): void {
    const home = this.#otherServer(server);
    if (home) {
      this.#passOn(server, home, fate);
      return;
    }
    this.#server = server;
    server.open.add(this);
    if (fate.request === "arrives twice") void this.#answer(server, { ...fate, reply: "silent" });
    void this.#answer(server, fate);
  }

  /** Lets a copy of the request arrive, e.g. from a proxy that repeats it. Its caller has ended the request by then, and gets no answer. */
  #arriveLater(ms: number): void {
    const { scheduler, servers } = this.#wire;
    scheduler.after(ms, () => {
      const server = servers.get(this.#origin);
      if (!server || this.#otherServer(server)) return;
      void this.#handle(server, true).then(({ body }) => this.#answered(server, body, true));
    });
  }

  /** Returns the server of the same service that a request belongs to; null if it belongs to the server at which it has arrived. */
  #otherServer({ options }: Server): Destination | null {
    return options.forwarding?.destinationOf(this.#head()) ?? null;
  }

  /** The fields of the request that the forwarding of a service reads. */
  #head(): IncomingMessage {
    const { method, path, headers } = this.#request;
    return { method, url: path, headers: { ...headers, ...this.#signature } } as IncomingMessage;
  }

  /** Passes a request on to another server of the same service. */
  #passOn({ machine, options }: Server, destination: Destination, fate: Fate): void {
    const { scheduler, servers, fateOf } = this.#wire;
    const hop = fateOf(machine, servers.get(destination.origin)?.machine ?? destination.origin);
    const caller = { remoteAddress: this.#wire.addressOf(this.#from), origin: this.#origin };
    this.#signature = options.forwarding?.headersFor(caller, this.#head(), destination) ?? {};
    scheduler.after(hop.requestMs, () => {
      const server = servers.get(destination.origin);
      if (this.#isOver || hop.request === "silent") return;
      if (!server) options.forwarding?.onGone(destination);
      if (!server || hop.request === "reset") return this.fail(resetError());
      whenRunning(this.#wire, server.machine, () => {
        if (!server.isClosed && !this.#isOver) this.#arriveAt(server, fate);
      });
    });
  }

  /** Lets the server handle the request, and delivers the answer according to `fate`. */
  async #answer(server: Server, fate: Fate): Promise<void> {
    const handling = this.#handle(server);
    server.answering.add(handling);
    const reply = await handling;
    server.answering.delete(handling);
    const wire = this.#wire;
    const later = (run: () => void): void =>
      void wire.scheduler.after(fate.replyMs, () => whenRunning(wire, this.#from, run));
    const deliver = (run: () => void): void => {
      if (fate.reply === "arrives") later(run);
    };
    if (fate.reply === "reset" || reply.isRefused) later(() => this.fail(resetError()));
    if (reply.isRefused) return;
    deliver(() => this.#start(reply.status));
    if (reply.body !== "") deliver(() => this.#data(reply.body));
    deliver(() => this.#end());
    this.#answered(server, reply.body);
  }

  #answered(server: Server, reply: string, isCopy = false): void {
    if (!server.isClosed && this.#request.method !== "GET") this.#wire.onAnswer(this.#observed(server, isCopy), reply);
  }

  /** The request as observers see it: one to the inbox of a player as one to the player. */
  #observed({ machine }: Server, isCopy: boolean): ObservedRequest {
    const { path, body } = this.#request;
    const [, owner, face] = /^\/inbox\/([^/?]+)(\/mcp)?/.exec(path) ?? [];
    const to = (face && owner !== undefined && this.#wire.playerWith(owner)) || machine;
    const isPoll = owner !== undefined && face === undefined;
    const kind = { ...(isPoll && { isPoll }), ...(isCopy && { isCopy }) };
    return { from: this.#from, to, body: String(body ?? ""), isOverSocket: false, ...kind };
  }

  async #handle(server: Server, isCopy = false): Promise<HttpReply> {
    const { options } = server;
    const { method, path } = this.#request;
    if (method === "GET") {
      if (path.startsWith("/health")) {
        return { status: 200, body: JSON.stringify({ server_id: options.forwarding?.serverId }) };
      }
      return { status: !path.startsWith("/ready") || options.isReady() ? 200 : 503, body: "{}" };
    }
    const observed = this.#observed(server, isCopy);
    this.#wire.onRequest(observed, this.#sentAt);
    const headers = this.#request.headers as Record<string, string> | null | undefined;
    const bearer = headers?.authorization?.replace(/^Bearer /, "") ?? null;
    const passedOn = options.forwarding?.callerIn(this.#head());
    const caller = passedOn ?? { remoteAddress: this.#wire.addressOf(this.#from), origin: this.#origin };
    const abortSignal = (): AbortSignal => this.#closed.signal;
    const http: HttpContext = { bearer, target: path, abortSignal, ...caller, ...(passedOn && { isPassedOn: true }) };
    const verdict = (await options.gate?.(observed.body, http)) ?? null;
    const { posts } = options;
    const handler = posts?.isAt(path.split("?", 1)[0] ?? "") ? posts.handler : options.handler;
    return verdict?.rejection ?? handler(observed.body, http);
  }

  #start(status: number): void {
    if (!this.#isOver) this.#handler.onResponseStart?.(this.#controller, status, {}, "OK");
  }

  #data(text: string): void {
    if (!this.#isOver) this.#handler.onResponseData?.(this.#controller, Buffer.from(text));
  }

  #end(): void {
    if (this.#isOver) return;
    this.drop();
    this.#handler.onResponseEnd?.(this.#controller, {});
  }
}
