import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import { parsedJson } from "../../lib/text.ts";
import { idOf } from "../jsonrpc/json-rpc.ts";
import { errorFor } from "./bridge.ts";
import { createRouter, type RouterOptions } from "./bridge-router.ts";
import { readLines } from "./stdio-lines.ts";
import { Message } from "./upstream.ts";

export interface McpStdioOptions {
  /** The MCP server's endpoint, e.g. `http://127.0.0.1:8001/mcp`. */
  readonly url: string;
  /** The server that a message is meant for, where there are several; null for the one at `url`. */
  readonly serverFor?: RouterOptions["serverFor"] | undefined;
  readonly input: Readable;
  /** Gets one JSON-RPC message a line and nothing else. */
  readonly output: Writable;
  /** A line for whoever reads the command's log. */
  readonly tell: (line: string) => void;
  readonly clock: Clock;
}

export interface McpStdio {
  /** Resolves when the client has gone: its input has ended, or it takes no more output. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** How long answers may take to come, or to go out, once the client has gone. */
const LAST_ANSWERS_MS = 1_000;
/** A client that leaves so much unread has gone. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** Serves an MCP server that is reached by HTTP on stdio; a line that is no message is refused and harms nothing. */
export function mcpStdio({ url, serverFor = () => null, input, output, tell, clock }: McpStdioOptions): McpStdio {
  const ended = Promise.withResolvers<void>();
  const lastMoment = (): Promise<void> => new Promise((resolve) => clock.after(LAST_ANSWERS_MS, resolve));
  const give = (message: object): void => {
    output.write(`${JSON.stringify(message)}\n`);
    if (output.writableLength > MAX_UNREAD_BYTES) ended.resolve();
  };
  const bridge = createRouter({ url, give, tell, serverFor, clock });
  const underWay = new Set<Promise<void>>();

  const take = (value: unknown): void => {
    const message = Message.safeParse(value);
    if (!message.success) {
      give(errorFor(idOf(value), INVALID_REQUEST, "Invalid Request"));
      return;
    }
    const answered = bridge.take(message.data);
    if (message.data.method === "subscriptions/listen") return; // it lasts as long as its client
    underWay.add(answered);
    void answered.then(() => underWay.delete(answered));
  };
  readLines(input, MAX_LINE_BYTES, {
    line(text) {
      const value = parsedJson(text);
      if (value === undefined) give(errorFor(null, PARSE_ERROR, "Parse error"));
      else if (Array.isArray(value) && value.length > 0) value.forEach(take);
      else take(value);
    },
    tooLong: () => give(errorFor(null, INVALID_REQUEST, `A line of more than ${MAX_LINE_BYTES} bytes`)),
    end() {
      void Promise.race([Promise.all(underWay), lastMoment()]).then(() => ended.resolve());
    },
  });
  output.on("error", () => ended.resolve());
  return {
    ended: ended.promise,
    async close() {
      await bridge.close();
      await Promise.race([new Promise<void>((resolve) => output.write("", () => resolve())), lastMoment()]);
    },
  };
}
