import { Agent, type Dispatcher, request } from "undici";
import { z } from "zod";
import { messageOf } from "../../lib/result.ts";
import { serverEvents } from "../../lib/server-events.ts";
import { parsedJson } from "../../lib/text.ts";

const Id = z.union([z.string(), z.number()]);

/** A JSON-RPC message of MCP: a request, a notification or a response. Batches are taken apart before. */
export const Message = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    id: Id.optional(),
    method: z.string().optional(),
    params: z.looseObject({}).optional(),
    result: z.unknown().optional(),
    error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
  })
  .refine(
    ({ id, method, result, error }) =>
      method !== undefined || (id !== undefined && (result !== undefined || error !== undefined)),
  );
export type Message = z.infer<typeof Message>;
export type Id = z.infer<typeof Id>;

/** How an exchange ended, once all of its answer has been taken. */
export interface UpstreamReply {
  readonly status: number;
  /** `Mcp-Session-Id`, if the server gave one. */
  readonly sessionId: string | null;
  /** What was said besides messages that were taken, e.g. why the request was refused. */
  readonly text: string;
}

export interface Exchange {
  readonly method: "POST" | "GET" | "DELETE";
  readonly message?: Message;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Takes each message of the answer as it comes; none of a rejection (HTTP 4xx and 5xx). */
  readonly take?: (message: Message) => void;
  /** Told when the answer begins, before anything of it is taken. */
  readonly begun?: (status: number) => void;
}

/** The HTTP side of an MCP server, of either era. */
export interface Upstream {
  /** Rejects with an UpstreamFault when the server could not be reached or broke off, with the signal's reason when that was aborted. */
  exchange(exchange: Exchange): Promise<UpstreamReply>;
  close(): Promise<void>;
}

/** Words for whoever waits for an answer that will not come. */
class UpstreamFault extends Error {}

const CONNECT_MS = 10_000;
/** The SDK's servers say every 15 s that they are still there. */
const SILENCE_MS = 60_000;
const MAX_MESSAGE_LENGTH = 16 * 1024 * 1024;
/** With these a request has never been sent. */
const UNREACHED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const SILENT = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/;

export function createUpstream(url: string): Upstream {
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });
  return {
    async exchange({ method, message, headers, signal, take = () => {}, begun }) {
      try {
        const response = await request(url, {
          dispatcher,
          method,
          signal,
          body: message === undefined ? null : JSON.stringify(message),
          headers: {
            accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
            ...(message !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
        });
        begun?.(response.statusCode);
        const text = await takeAnswer(response, take);
        const { statusCode: status, headers: given } = response;
        return { status, sessionId: oneOf(given["mcp-session-id"]), text };
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        throw new UpstreamFault(wordsFor(thrown, url), { cause: thrown });
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Takes the messages of an answer; whatever else it says comes back as text. */
async function takeAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  take: (message: Message) => void,
): Promise<string> {
  if (oneOf(headers["content-type"])?.startsWith("text/event-stream")) {
    for await (const { data } of serverEvents(body, MAX_MESSAGE_LENGTH)) takeText(data, take);
    return "";
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_MESSAGE_LENGTH) throw new Error(`an answer of more than ${MAX_MESSAGE_LENGTH} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return statusCode < 300 && takeText(text, take) ? "" : text;
}

function takeText(text: string, take: (message: Message) => void): boolean {
  const message = Message.safeParse(parsedJson(text));
  if (message.success) take(message.data);
  return message.success;
}

function wordsFor(thrown: unknown, url: string): string {
  const code = (thrown as NodeJS.ErrnoException).code ?? "";
  const detail = messageOf(thrown) || code; // a host of several addresses fails with an empty message
  if (UNREACHED.test(code)) return `The MCP server at ${url} cannot be reached: ${detail}`;
  if (SILENT.test(code)) return `The MCP server at ${url} has said nothing for ${SILENCE_MS / 1000} s`;
  return `The connection to the MCP server at ${url} broke before it had answered; what was asked may have been done: ${detail}`;
}

const oneOf = (header: string | string[] | undefined): string | null =>
  (Array.isArray(header) ? header[0] : header) ?? null;
