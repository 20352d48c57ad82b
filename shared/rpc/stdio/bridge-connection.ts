import { type JSONRPCMessage, SdkHttpError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";

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

/** The session that a message belongs to. */
export interface SessionKey {
  /** `Mcp-Session-Id`; null for a server without sessions. */
  readonly id: string | null;
  readonly revision: string;
}

interface ConnectionOptions {
  /** null for `initialize` and for messages of the stateless revision. */
  readonly session: SessionKey | null;
  /** Called with each message of the server. */
  readonly onMessage: (message: JSONRPCMessage) => void;
  /** Called when the server has answered with HTTP 2xx, before its first message. */
  readonly onOpen?: () => void;
  /** Aborting it closes the connection. */
  readonly signal: AbortSignal;
}

/** The server has sent nothing for `SILENCE_MS`. */
class SilenceError extends Error {}

/** The end of a connection. */
export interface Reply {
  /** The HTTP status. */
  readonly status: number;
  /** `Mcp-Session-Id` of the answer to `initialize`. */
  readonly sessionId: string | null;
  /** The body of an HTTP error. */
  readonly errorBody: string;
}

/** The maximum time without data from the server. Servers of the SDK write a comment to an idle stream every 15 s. */
const SILENCE_MS = 60_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** By default the SDK resumes a stream with event ids without limit, as long as the server answers. */
const NO_RECONNECTION = {
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

/**
 * One HTTP exchange with an MCP server by a transport of the SDK, which adds the headers of the revision and reads event streams. A separate
 * transport for each exchange shows how that exchange ends: the SDK reports faults of the connection to the transport.
 */
class Connection {
  readonly #transport: StreamableHTTPClientTransport;
  readonly #clock: Clock;
  readonly #options: ConnectionOptions;
  /** Resolves at the end of the event stream or when the connection is closed. */
  readonly #end = Promise.withResolvers<void>();
  #isListening = false;
  #isStream = false;
  #status = 0;
  #bodyFault: unknown = null;
  readonly #silence = new AbortController();
  #stopTimer: Cancel = () => {};

  constructor(url: string, clock: Clock, options: ConnectionOptions) {
    const { session, onMessage } = options;
    this.#clock = clock;
    this.#options = options;
    this.#transport = new StreamableHTTPClientTransport(new URL(url), {
      ...(session?.id && { sessionId: session.id }),
      ...(session && { protocolVersion: session.revision }),
      reconnectionOptions: NO_RECONNECTION,
      fetch: (url, init) => this.#fetch(url, init),
    });
    this.#transport.onmessage = onMessage;
  }

  /** Sends a message. Resolves when the reply is complete. */
  send(message: JSONRPCMessage): Promise<Reply> {
    return this.#run(async () => {
      await this.#transport.send(message, { onRequestStreamEnd: this.#end.resolve });
      if (this.#isStream) await this.#end.promise;
    });
  }

  /** Reads the stream of the session. Resolves when it ends. */
  listen(): Promise<Reply> {
    this.#isListening = true;
    return this.#run(async () => {
      await this.#transport.resumeStream(""); // without an event id: a new stream
      if (this.#isStream) await this.#end.promise;
    });
  }

  /** Ends the session at the server. */
  endSession(): Promise<Reply> {
    return this.#run(() => this.#transport.terminateSession());
  }

  /** Rejects if there is no HTTP response or its body is incomplete, and with the reason of the signal if the signal is aborted. */
  async #run(use: () => Promise<void>): Promise<Reply> {
    const { signal } = this.#options;
    const close = (): void => {
      this.#stopTimer();
      this.#end.resolve();
      void this.#transport.close();
    };
    signal.throwIfAborted();
    signal.addEventListener("abort", close);
    let errorBody = "";
    try {
      await this.#transport.start();
      await use();
    } catch (thrown) {
      if (this.#status === 0) throw thrown;
      // Any other error of the SDK means that the response contains no message.
      if (thrown instanceof SdkHttpError) errorBody = String(thrown.data.text ?? "");
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
    signal.throwIfAborted();
    if (this.#bodyFault !== null) throw this.#bodyFault;
    return { status: this.#status, sessionId: this.#transport.sessionId ?? null, errorBody };
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    // The SDK opens a stream after `notifications/initialized`, but does not report when that stream cannot be opened.
    if (init.method === "GET" && !this.#isListening) return new Response(null, { status: 405 });
    this.#restartTimer();
    const signal = init.signal ? AbortSignal.any([init.signal, this.#silence.signal]) : this.#silence.signal;
    const response = await fetch(url, { ...init, signal });
    const { status, statusText, ok, body } = response;
    this.#status = status;
    this.#isStream = ok && (response.headers.get("content-type")?.startsWith("text/event-stream") ?? false);
    if (ok) this.#options.onOpen?.();
    const checked = body === null ? null : ReadableStream.from(this.#checked(body));
    return new Response(checked, { status, statusText, headers: [...response.headers] });
  }

  #restartTimer(): void {
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(SILENCE_MS, () => this.#silence.abort(new SilenceError()));
  }

  /** Forwards a body, limits the size of its messages and records how it ends. */
  async *#checked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let messageBytes = 0;
    try {
      for await (const chunk of body) {
        this.#restartTimer();
        const eventEnd = this.#isStream ? endOfEvent(chunk) : -1;
        messageBytes = eventEnd < 0 ? messageBytes + chunk.length : chunk.length - eventEnd;
        if (messageBytes > MAX_MESSAGE_BYTES) throw new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes`);
        yield chunk;
      }
    } catch (thrown) {
      this.#bodyFault = thrown;
      throw thrown;
    } finally {
      if (this.#isListening) this.#end.resolve();
    }
  }
}

/** The position of the last empty line; -1 if there is none. */
function endOfEvent(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  return Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\n\r\n"));
}
