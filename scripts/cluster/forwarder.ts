import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";

/** Forwards TCP connections to a port of this machine. It can be cut, like a network. */
export interface Forwarder {
  readonly port: number;
  /**
   * Stops passing bytes and the ends of connections, in both directions. The connections stay open, and new connections are accepted, but nothing
   * answers on them.
   */
  cut(): void;
  /** Passes all bytes and ends that have been held back. */
  restore(): void;
  close(): Promise<void>;
}

export async function startForwarder(targetPort: number): Promise<Forwarder> {
  const links = new Set<Link>();
  let isCut = false;
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    const link = new Link(near, targetPort, () => links.delete(link));
    links.add(link);
    if (!isCut) link.open();
  });
  await once(server.listen(0, LOOPBACK_HOST), "listening");
  return {
    port: portOf(server),
    cut() {
      isCut = true;
      for (const link of links) link.hold();
    },
    restore() {
      isCut = false;
      for (const link of [...links]) link.open();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const link of links) link.destroy();
      await closed;
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port");
  return address.port;
}

/** A connection and the connection to its target. */
class Link {
  readonly #near: Socket;
  readonly #far = new Socket({ allowHalfOpen: true });
  readonly #targetPort: number;
  readonly #onEnd: () => void;
  #isHeld = true;
  #hasTarget = false;
  #hasFailed = false;
  #openCount = 2;
  /** The connections to end when bytes are passed again. */
  readonly #heldEnds: Socket[] = [];

  constructor(near: Socket, targetPort: number, onEnd: () => void) {
    this.#near = near;
    this.#targetPort = targetPort;
    this.#onEnd = onEnd;
    for (const [from, to] of [
      [near, this.#far],
      [this.#far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on("data", (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on("drain", () => {
        if (!this.#isHeld) from.resume();
      });
      // A paused connection without buffered bytes still reports its end.
      from.on("end", () => (this.#isHeld ? this.#heldEnds.push(to) : to.end()));
      from.on("error", () => {});
      from.on("close", (hasFailed) => this.#closed(hasFailed));
    }
  }

  hold(): void {
    this.#isHeld = true;
    this.#near.pause();
    this.#far.pause();
  }

  open(): void {
    this.#isHeld = false;
    for (const to of this.#heldEnds.splice(0)) to.end();
    if (this.#hasFailed) {
      this.destroy();
      return;
    }
    if (!this.#hasTarget) {
      this.#hasTarget = true;
      this.#far.connect(this.#targetPort, LOOPBACK_HOST);
    }
    this.#near.resume();
    this.#far.resume();
  }

  destroy(): void {
    this.#near.destroy();
    this.#far.destroy();
    this.#onEnd();
  }

  /** The other end of a failed connection is closed when it may know of the failure. */
  #closed(hasFailed: boolean): void {
    this.#openCount--;
    this.#hasFailed ||= hasFailed;
    if (this.#openCount === 0) this.#onEnd();
    else if (this.#hasFailed && !this.#isHeld) this.destroy();
  }
}
