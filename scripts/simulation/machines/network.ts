import type { IncomingMessage } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { Destination } from "#shared/rpc/http/forwarding.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import { mcpSocket } from "#shared/rpc/http/upgrade.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Network } from "#shared/rpc/network.ts";
import type {
  ConnectionPool,
  DispatchController,
  DispatchHandler,
  DispatchOptions,
} from "#shared/rpc/peer/http-transport.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { messageSocket } from "#shared/rpc/websocket/message-socket.ts";
import type { FrameEvents, Frames, OpeningEvents, OpenSocket, SocketAddress } from "#shared/rpc/websocket/websocket.ts";
import type { Disturbance, Plan } from "../plan.ts";
import type { ProcessClock } from "./clock.ts";
import { type Scheduler, settled } from "./scheduler.ts";

/** The network that connects all machines. */
export interface SimulatedNetwork {
  /** Returns the network for one process of a machine. `stop` closes all connections and servers, as a kill does. */
  forProcess(machine: string, clock: ProcessClock): Network & { stop(): void; connections(): number };
  /** Returns the server of a machine; undefined while it does not listen. */
  serverOf(machine: string): Server | undefined;
}

/** The time that a stopping server waits for pending answers. */
const STOP_TIMEOUT_MS = 300;
/** Creates a network in which every machine has the loopback address and different ports. */
export function createNetwork(options: NetworkOptions): SimulatedNetwork {
  const servers = new Map<string, Server>();
  return {
    serverOf: (machine) => [...servers.values()].find((server) => server.machine === machine),
    forProcess(machine, clock) {
      const connections = new Set<Link>();
      const closeFunctions: (() => void)[] = [];
      return {
        async listen(listenOptions) {
          const port = listenOptions.ports.find((one) => !servers.has(originOf(one)));
          if (port === undefined) return err(`port ${listenOptions.ports[0]} is taken`);
          const origin = originOf(port);
          const takesSockets = !options.withoutSockets.includes(machine);
          const sets = { open: new Set<Link>(), answering: new Set<Promise<unknown>>() };
          const server: Server = { machine, options: listenOptions, clock, takesSockets, ...sets, isClosed: false };
          servers.set(origin, server);
          const close = async (): Promise<void> => {
            if (servers.get(origin) === server) servers.delete(origin);
            // The production server also waits for pending answers.
            const waiting = new AbortController();
            const answered = Promise.all(server.answering);
            await Promise.race([answered, clock.pause(STOP_TIMEOUT_MS, waiting.signal)]);
            waiting.abort();
            server.isClosed = true;
            for (const connection of server.open) connection.fail(resetError());
          };
          closeFunctions.push(() => {
            if (servers.get(origin) === server) servers.delete(origin);
            server.isClosed = true;
            for (const connection of server.open) connection.fail(resetError());
          });
          return ok({
            url: origin,
            urls: [origin],
            port,
            isOnEveryAddress: false,
            close,
            rejections: { write: () => {} },
          });
        },
        createPeers: () =>
          createPeers({
            clock,
            openPool: (origin) => connect({ ...options, servers }, machine, origin, connections),
            openSocket: socketsOf({ ...options, servers }, machine, connections),
          }),
        // No simulated process opens a page, so no match is watched.
        openEventStream: () => Promise.reject(new Error("the simulated network has no event streams")),
        addressToward: async () => options.addressOf(machine),
        comesFrom: async (endpoint, address) => new URL(endpoint).hostname === address,
        interfaces: () => ({}),
        connections: () => connections.size,
        stop() {
          for (const connection of connections) connection.drop();
          for (const close of closeFunctions) close();
        },
      };
    },
  };
}

const originOf = (port: number): string => `http://${HOST}:${port}`;

/** Returns the function with which a process opens WebSockets. `all` are the connections of the process. */
const socketsOf =
  (wire: Wire, from: string, all: Set<Link>): OpenSocket =>
  (address, _clock, events) => {
    const socket = new SocketConnection(wire, from, address, events, () => all.delete(socket));
    all.add(socket);
    return () => socket.cancel();
  };

/** Returns the connection pool of a process to an origin. Each request uses a new connection. `all` are the connections of the process. */
function connect(wire: Wire, from: string, origin: string, all: Set<Link>): ConnectionPool {
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

interface NetworkOptions {
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
interface Link {
  /** Closes the connection without notifying the caller, e.g. because the caller was killed. */
  drop(): void;
  /** Closes the connection and passes the error to the caller. */
  fail(error: Error): void;
}

/** A listening server of a process. */
interface Server {
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
interface Wire extends NetworkOptions {
  readonly servers: ReadonlyMap<string, Server>;
}

/** Calls `run` when the process of a machine runs: now, or after it was stopped. */
function whenRunning({ scheduler, stoppedUntil }: NetworkOptions, machine: string, run: () => void): void {
  const stoppedMs = stoppedUntil(machine) - scheduler.now();
  if (stoppedMs > 0) scheduler.after(stoppedMs, run);
  else run();
}

/** Returns the origin of the server that answers a request to an origin. Every server has another port, so that the host does not matter. */
function routed({ proxy, servers }: Wire, called: string): string {
  const origin = called.replace(/^http:\/\/[^:/]+/, `http://${HOST}`);
  if (origin !== proxy?.origin) return origin;
  const behind = [...servers].filter(([, { machine }]) => proxy.isBehind(machine));
  return behind.length > 0 ? proxy.random.pick(behind)[0] : origin;
}

/** The address of every server, and of most machines. */
const HOST = "127.0.0.1";
const refusedError = (): Error => Object.assign(new Error(`connect ECONNREFUSED ${HOST}`), { code: "ECONNREFUSED" });
const resetError = (): Error => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

/** One request and its reply. */
class Connection implements Link {
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

type Side = "client" | "server";

const otherSide = { client: "server", server: "client" } as const;

/** A WebSocket at `/mcp` of a simulated server, with the production code at both ends. Each frame is delivered, delayed or lost independently. Frames keep their order. */
class SocketConnection implements Link {
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
      bearer: this.#address.bearer ?? null,
      remoteAddress: this.#wire.addressOf(this.#from),
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

/** The maximum delay without disturbances. Most messages take a few milliseconds. */
const MAX_DELAY_MS = 40;

/** Decides the fate of a request that is sent now. */
type FateOf = (from: string, to: string) => Fate;

/** Returns a function that applies the disturbances of a plan at the time of each request. */
export const fatesOf =
  ({ disturbances }: Plan, now: () => number, random: Random): FateOf =>
  (from, to) => {
    const delay = (): number => random.next() ** 4 * MAX_DELAY_MS;
    let fate: Fate = { requestMs: delay(), replyMs: delay(), request: "arrives", reply: "arrives" };
    for (const one of disturbances) {
      if ("ms" in one && now() >= one.at && now() < one.at + one.ms) fate = disturbed(fate, one, from, to, random);
    }
    return fate;
  };

/** Returns the fate of a request after one disturbance. */
function disturbed(fate: Fate, one: Disturbance, from: string, to: string, random: Random): Fate {
  if (one.type === "partition") {
    const isBetween = one.between.includes(from) && one.between.includes(to);
    return isBetween ? { ...fate, request: one.isSilent ? "silent" : "reset" } : fate;
  }
  if (!("machine" in one) || (one.machine !== from && one.machine !== to)) return fate;
  if (one.type === "slow") {
    const [request, reply] = [random.next() * one.delayMs, random.next() * one.delayMs];
    return { ...fate, requestMs: fate.requestMs + request, replyMs: fate.replyMs + reply };
  }
  if (one.type === "late copies" && one.machine === to && random.next() < one.share)
    return { ...fate, copyMs: random.next() * one.delayMs };
  if (one.type === "lossy" && random.next() < one.share) {
    return random.pick<Fate>([
      { ...fate, request: "reset" },
      { ...fate, reply: "reset" },
      { ...fate, request: "arrives twice" },
    ]);
  }
  return fate;
}

/** A request without an answer after this number of events is given up. */
const MAX_STEPS = 100_000;

/** Sends a request to a server, without delays and losses. Resolves with its answer; null without an answer. */
export async function ask({ options }: Server, scheduler: Scheduler, body: string): Promise<string | null> {
  let answer: string | null = null;
  const http = { bearer: null, remoteAddress: HOST, abortSignal: () => new AbortController().signal };
  void options.handler(body, http).then((reply) => {
    answer = reply.body;
  });
  await settled();
  for (let steps = 0; answer === null && steps < MAX_STEPS && (await scheduler.step()); steps++);
  return answer;
}
