import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/result.ts";
import { parsedJson } from "../../lib/text.ts";
import { bridgeSession } from "./bridge-session.ts";
import { isStateless, sendStateless } from "./bridge-stateless.ts";
import { createUpstream, type Id, Message, type UpstreamReply } from "./upstream.ts";

export interface BridgeOptions {
  /** The MCP server's endpoint, e.g. `http://127.0.0.1:8001/mcp`. */
  readonly url: string;
  /** Hands a message to the client. */
  readonly give: (message: object) => void;
  /** A line for whoever reads the bridge's log. */
  readonly tell: (line: string) => void;
  readonly clock: Clock;
}

/** A client's messages on their way to an MCP server over HTTP, and back, in both eras (MCP 2025-11-25 and 2026-07-28, Transports). */
export interface Bridge {
  /**
   * Takes a message of the client; settles when its answer is complete, never rejects. Every request is answered: with an error in plain
   * words when the server is down, breaks off or falls silent.
   */
  take(message: Message): Promise<void>;
  /** Gives up what is under way and takes leave of the server. */
  close(): Promise<void>;
}

/** A request that the client waits for. */
interface Waiting {
  readonly cancel: AbortController;
  readonly isStateless: boolean;
}

const INVALID_REQUEST = -32600;
/** The code that MCP's SDKs use for a connection that is gone. */
export const NO_CONNECTION = -32000;
const MAX_WAITING = 1_000;
const FAREWELL_MS = 500;
const HANDSHAKE = new Set(["initialize", "notifications/initialized"]);

export function createBridge({ url, give, tell, clock }: BridgeOptions): Bridge {
  const upstream = createUpstream(url);
  const closing = new AbortController();
  const session = bridgeSession({ upstream, give, tell, clock, closing: closing.signal });
  const waiting = new Map<Id, Waiting>();
  /** Settles when the handshake is over: what comes behind it waits, because HTTP keeps no order. */
  let ready: Promise<void> = Promise.resolve();

  const send = (message: Message, take: (message: Message) => void, signal: AbortSignal): Promise<UpstreamReply> =>
    isStateless(message)
      ? sendStateless({ upstream, message, take, signal, clock })
      : session.send(message, take, signal);

  const answer = async (message: Message, id: Id, { cancel }: Waiting, before: Promise<void>): Promise<void> => {
    let isAnswered = false;
    const take = (taken: Message): void => {
      isAnswered ||= taken.id === id && taken.method === undefined;
      give(taken);
    };
    try {
      await before;
      const reply = await send(message, take, AbortSignal.any([cancel.signal, closing.signal]));
      if (!isAnswered) give(rejectionOf(reply, id, url));
    } catch (thrown) {
      if (isAnswered || cancel.signal.aborted || closing.signal.aborted) return;
      give(errorFor(id, NO_CONNECTION, messageOf(thrown)));
      tell(`${message.method}: ${messageOf(thrown)}`);
    }
  };

  const request = async (message: Message, id: Id, before: Promise<void>): Promise<void> => {
    if (waiting.size >= MAX_WAITING)
      return give(errorFor(id, INVALID_REQUEST, `More than ${MAX_WAITING} requests at once`));
    const own: Waiting = { cancel: new AbortController(), isStateless: isStateless(message) };
    waiting.set(id, own);
    await answer(message, id, own, before);
    if (waiting.get(id) === own) waiting.delete(id);
  };

  /** Sends a notification, or the client's answer to what the server has asked. */
  const note = async (message: Message, before: Promise<void>): Promise<void> => {
    const { method, params } = message;
    const cancelled = method === "notifications/cancelled" ? waiting.get(params?.requestId as Id) : undefined;
    try {
      await before;
      // A stateless request is cancelled by leaving it, one in a session by saying so.
      if (!cancelled?.isStateless) await send(message, give, closing.signal);
    } catch (thrown) {
      if (!closing.signal.aborted) tell(`${method ?? "an answer"} is lost: ${messageOf(thrown)}`);
    } finally {
      cancelled?.cancel.abort();
    }
  };

  return {
    take(message) {
      const { id, method } = message;
      const isRequest = id !== undefined && method !== undefined;
      const taken = isRequest ? request(message, id, ready) : note(message, ready);
      if (HANDSHAKE.has(method ?? "")) ready = taken;
      return taken;
    },
    async close() {
      closing.abort();
      await session.end(clock.timeout(FAREWELL_MS)).catch(() => {}); // the server closes idle sessions
      await upstream.close();
    },
  };
}

/** A JSON-RPC error as an answer; its id is null when nobody knows what it answers. */
export const errorFor = (id: Id | null, code: number, message: string, data?: unknown): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});

/** What to tell the client when the server's reply holds no answer with the request's id. */
function rejectionOf({ status, text }: UpstreamReply, id: Id, url: string): object {
  // Refused before anybody looked for an id, e.g. because the body was too large.
  const rejection = Message.safeParse({ ...(parsedJson(text) as object), id });
  const error = rejection.data?.error;
  if (error) return errorFor(id, error.code, error.message, error.data);
  const how = status < 300 ? "ended its reply without an answer" : `answered with HTTP status ${status}`;
  return errorFor(id, NO_CONNECTION, `The MCP server at ${url} ${how}`);
}
