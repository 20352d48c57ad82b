import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/result.ts";
import {
  Connection,
  type ConnectionOptions,
  type Reply,
  type SessionKey,
  SILENCE_MS,
  SilenceError,
} from "./connection.ts";

/** A fault of the connection, with a message for the client. */
class UpstreamFault extends Error {}

/** The error codes of connections on which the request has not been sent. */
const UNREACHED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * An MCP server over HTTP. Its methods reject with an UpstreamFault if the server cannot be reached or the connection breaks, and with the
 * reason of the signal if the signal is aborted.
 */
export class Upstream {
  readonly #url: string;
  readonly #clock: Clock;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
  }

  /** Sends a message. Resolves when the reply is complete. */
  exchange(message: JSONRPCMessage, options: ConnectionOptions): Promise<Reply> {
    return this.#connect(options, (connection) => connection.send(message));
  }

  /** Reads the stream of a session. Resolves when it ends. */
  listen(options: ConnectionOptions): Promise<Reply> {
    return this.#connect(options, (connection) => connection.listen());
  }

  /** Ends a session at the server. */
  async end(session: SessionKey, signal: AbortSignal): Promise<void> {
    await this.#connect({ session, signal, onMessage: () => {} }, (connection) => connection.endSession());
  }

  async #connect(options: ConnectionOptions, use: (connection: Connection) => Promise<Reply>): Promise<Reply> {
    try {
      return await use(new Connection(this.#url, this.#clock, options));
    } catch (thrown) {
      if (options.signal.aborted) throw options.signal.reason;
      throw new UpstreamFault(messageFor(thrown, this.#url), { cause: thrown });
    }
  }
}

function messageFor(thrown: unknown, url: string): string {
  if (thrown instanceof SilenceError) return `The MCP server at ${url} has sent nothing for ${SILENCE_MS / 1000} s`;
  const cause = thrown instanceof TypeError && thrown.cause ? thrown.cause : thrown; // fetch hides the error of the connection
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const detail = messageOf(cause) || code; // a host with several addresses fails with an empty message
  if (UNREACHED.test(code)) return `The MCP server at ${url} cannot be reached: ${detail}`;
  return `The connection to the MCP server at ${url} broke before it had answered; the request may have been executed: ${detail}`;
}
