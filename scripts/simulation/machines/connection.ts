import type { Clock } from "#shared/lib/clock.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { ListenOptions } from "#shared/rpc/http/listen.ts";
import type { HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { DispatchController, DispatchHandler, DispatchOptions } from "#shared/rpc/peer/targets.ts";
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
}

/** A request between two machines, for observers of the simulation. */
export interface ObservedRequest {
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly isOverSocket: boolean;
}

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly fateOf: (from: string, to: string) => Fate;
  /** The machines that accept no WebSockets, although their agents offer them. */
  readonly withoutSockets: readonly string[];
  /** Until when the process of a machine is stopped. What arrives meanwhile waits. */
  readonly stoppedUntil: (machine: string) => number;
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

/** Returns the origin of the server that answers a request to an origin. */
export function routed({ proxy, servers }: Wire, origin: string): string {
  if (origin !== proxy?.origin) return origin;
  const behind = [...servers].filter(([, { machine }]) => proxy.isBehind(machine));
  return behind.length > 0 ? proxy.random.pick(behind)[0] : origin;
}

/** The address of every machine. */
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
    this.#server = server;
    server.open.add(this);
    if (fate.request === "arrives twice") void this.#answer(server, { ...fate, reply: "silent" });
    void this.#answer(server, fate);
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
    if (fate.reply === "reset") later(() => this.fail(resetError()));
    deliver(() => this.#start(reply.status));
    if (reply.body !== "") deliver(() => this.#data(reply.body));
    deliver(() => this.#end());
    if (!server.isClosed && this.#request.method !== "GET") this.#wire.onAnswer(this.#observed(server), reply.body);
  }

  #observed({ machine }: Server): ObservedRequest {
    return { from: this.#from, to: machine, body: String(this.#request.body ?? ""), isOverSocket: false };
  }

  async #handle(server: Server): Promise<HttpReply> {
    const { options } = server;
    const { method, path } = this.#request;
    if (method === "GET") {
      if (path.startsWith("/health")) {
        return { status: 200, body: JSON.stringify({ server_id: options.forwarding?.serverId }) };
      }
      return { status: !path.startsWith("/ready") || options.isReady() ? 200 : 503, body: "{}" };
    }
    const observed = this.#observed(server);
    this.#wire.onRequest(observed, this.#sentAt);
    const headers = this.#request.headers as Record<string, string> | null | undefined;
    const bearer = headers?.authorization?.replace(/^Bearer /, "") ?? null;
    const http = { bearer, remoteAddress: HOST, abortSignal: () => this.#closed.signal };
    const verdict = (await options.gate?.(observed.body, http)) ?? null;
    return verdict?.rejection ?? options.handler(observed.body, http);
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
