import { err, ok } from "#shared/lib/result.ts";
import type { HttpReply } from "#shared/rpc/http.ts";
import type { ListenOptions } from "#shared/rpc/listen.ts";
import type { Network } from "#shared/rpc/network.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import type { ConnectionPool, DispatchController, DispatchHandler, DispatchOptions } from "#shared/rpc/targets.ts";
import type { ProcessClock } from "./clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** What happens to one request. */
export interface Fate {
  /** From the caller to the callee, ms. */
  readonly requestMs: number;
  readonly replyMs: number;
  /** `reset`: the connection breaks on the way. `silent`: nothing arrives, and no error. */
  readonly request: "arrives" | "arrives twice" | "reset" | "silent";
  readonly reply: "arrives" | "reset" | "silent";
}

/** A request as an observer of the simulation sees it. */
export interface Passed {
  readonly from: string;
  readonly to: string;
  readonly body: string;
}

export interface SimulatedNetwork {
  /** The network of one process, by the name of its machine. `stop` closes it, as a kill does. */
  of(machine: string, clock: ProcessClock): Network & { stop(): void };
  /** Whether a process listens at an origin. */
  isListening(origin: string): boolean;
}

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly fateOf: (from: string, to: string) => Fate;
  /** A request has reached a callee that listens. */
  readonly onRequest: (passed: Passed) => void;
  /** A callee has answered; the answer may get lost. */
  readonly onAnswer: (passed: Passed, reply: string) => void;
}

interface Server {
  readonly machine: string;
  readonly options: ListenOptions;
  /** Connections that it has accepted. */
  readonly open: Set<Connection>;
  /** The answers that its handlers are working on. */
  readonly answering: Set<Promise<unknown>>;
}

/** How long a stopping server waits for its answers. */
const LAST_ANSWERS_MS = 300;
const HOST = "127.0.0.1";
const refusedError = (): Error => Object.assign(new Error(`connect ECONNREFUSED ${HOST}`), { code: "ECONNREFUSED" });
const resetError = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

/** A network in which every machine has the address of loopback, with ports that no two share. */
export function createNetwork(options: NetworkOptions): SimulatedNetwork {
  const servers = new Map<string, Server>();
  return {
    isListening: (origin) => servers.has(origin),
    of(machine, clock) {
      const connections = new Set<Connection>();
      const breaks: (() => void)[] = [];
      return {
        async listen(given) {
          const port = given.ports.find((one) => !servers.has(originOf(one)));
          if (port === undefined) return err(`port ${given.ports[0]} is taken`);
          const origin = originOf(port);
          const server: Server = { machine, options: given, open: new Set(), answering: new Set() };
          servers.set(origin, server);
          const close = async (): Promise<void> => {
            if (servers.get(origin) === server) servers.delete(origin);
            // As the server of production, which waits for its last answers.
            const waiting = new AbortController();
            const answered = Promise.all(server.answering);
            await Promise.race([answered, clock.pause(LAST_ANSWERS_MS, waiting.signal)]);
            waiting.abort();
            for (const connection of server.open) connection.fail(resetError());
          };
          breaks.push(() => {
            if (servers.get(origin) === server) servers.delete(origin);
            for (const connection of server.open) connection.fail(resetError());
          });
          return ok({
            ...{ url: origin, urls: [origin], port, isOnEveryAddress: false, close },
            rejections: { write: () => {} },
          });
        },
        createPeers: () =>
          createPeers({
            clock,
            openPool: (origin) => connect({ ...options, servers }, machine, origin, connections),
          }),
        addressToward: async () => HOST,
        interfaces: () => ({}),
        stop() {
          for (const connection of connections) connection.drop();
          for (const end of breaks) end();
        },
      };
    },
  };
}

const originOf = (port: number): string => `http://${HOST}:${port}`;

interface Wire extends NetworkOptions {
  readonly servers: ReadonlyMap<string, Server>;
}

/** Connections of a process to an origin: each request has its own. `all` are those of the process. */
function connect(wire: Wire, from: string, origin: string, all: Set<Connection>): ConnectionPool {
  const open = new Set<Connection>();
  return {
    dispatch(request, handler) {
      const connection = new Connection(wire, from, origin, request, handler, () => {
        open.delete(connection);
        all.delete(connection);
      });
      open.add(connection);
      all.add(connection);
      return true;
    },
    isBusy: () => open.size > 0,
    async destroy() {
      for (const connection of open) connection.fail(resetError());
    },
  };
}

/** One request and its reply. */
class Connection {
  readonly #wire: Wire;
  readonly #from: string;
  readonly #origin: string;
  readonly #request: DispatchOptions;
  readonly #handler: DispatchHandler;
  readonly #onEnd: () => void;
  readonly #gone = new AbortController();
  readonly #controller: DispatchController;
  #server: Server | null = null;
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
    this.#origin = origin;
    this.#request = request;
    this.#handler = handler;
    this.#onEnd = onEnd;
    this.#controller = {
      abort: (reason: Error) => this.fail(reason),
    } as unknown as DispatchController;
    wire.scheduler.after(0, () => this.#send());
  }

  /** The caller has ended: nothing reaches it any more. */
  drop(): void {
    this.#isOver = true;
    this.#gone.abort();
    this.#server?.open.delete(this);
    this.#onEnd();
  }

  /** The connection breaks, and the caller is told. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.drop();
    this.#handler.onResponseError?.(this.#controller, error);
  }

  #send(): void {
    if (this.#isOver) return;
    this.#handler.onRequestStart?.(this.#controller, undefined);
    if (this.#isOver) return;
    const { scheduler, servers, fateOf } = this.#wire;
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
    this.#server = server;
    server.open.add(this);
    if (fate.request === "arrives twice") void this.#answer(server, { ...fate, reply: "silent" });
    void this.#answer(server, fate);
  }

  /** The callee handles the request. What it answers is delivered as `fate` says. */
  async #answer(server: Server, fate: Fate): Promise<void> {
    const taking = this.#take(server);
    server.answering.add(taking);
    const reply = await taking;
    server.answering.delete(taking);
    const later = (run: () => void): void => void this.#wire.scheduler.after(fate.replyMs, run);
    const deliver = (run: () => void): void => {
      if (fate.reply === "arrives") later(run);
    };
    if (fate.reply === "reset") later(() => this.fail(resetError()));
    let text = reply.body;
    deliver(() => this.#start(reply.status));
    if (reply.body !== "") deliver(() => this.#data(reply.body));
    for await (const more of reply.more ?? []) {
      text += more;
      deliver(() => this.#data(more));
    }
    deliver(() => this.#end());
    const isAlive = this.#wire.servers.get(this.#origin) === server;
    if (isAlive && this.#request.method !== "GET") this.#wire.onAnswer(this.#passed(server), text);
  }

  #passed({ machine }: Server): Passed {
    return { from: this.#from, to: machine, body: String(this.#request.body ?? "") };
  }

  async #take(server: Server): Promise<HttpReply> {
    const { options } = server;
    const { method, path } = this.#request;
    if (method === "GET") {
      const isReady = !path.startsWith("/ready") || options.isReady();
      return { status: path.startsWith("/health") || isReady ? 200 : 503, body: "{}" };
    }
    const passed = this.#passed(server);
    this.#wire.onRequest(passed);
    const headers = this.#request.headers as Record<string, string> | null | undefined;
    const bearer = headers?.authorization?.replace(/^Bearer /, "") ?? null;
    const http = { bearer, remoteAddress: HOST, gone: () => this.#gone.signal };
    const verdict = (await options.gate?.(passed.body, http)) ?? null;
    return verdict?.rejection ?? options.handler(passed.body, http);
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
