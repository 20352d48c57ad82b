import type { Clock } from "../../lib/clock.ts";
import { RETRY_MS, updated } from "./bridge-session.ts";
import type { Message, Upstream, UpstreamReply } from "./upstream.ts";

interface StatelessRequest {
  readonly upstream: Upstream;
  readonly message: Message;
  readonly take: (message: Message) => void;
  /** Aborting it cancels the request. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const REVISION = "io.modelcontextprotocol/protocolVersion";
/** Which parameter of a request `Mcp-Name` repeats (MCP 2026-07-28, Streamable HTTP: standard request headers). */
const NAMED_BY = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

const revisionOf = ({ params }: Message): unknown => (params?._meta as Record<string, unknown> | undefined)?.[REVISION];

/** Whether a message is of the stateless era: there each request names its revision. */
export const isStateless = (message: Message): boolean => typeof revisionOf(message) === "string";

/** Sends a request of the stateless era, which belongs to no session; a subscription lasts until the signal is aborted. */
export const sendStateless = (request: StatelessRequest): Promise<UpstreamReply> =>
  request.message.method === "subscriptions/listen" ? listen(request) : post(request);

const post = ({ upstream, message, take, signal }: StatelessRequest): Promise<UpstreamReply> =>
  upstream.exchange({ method: "POST", message, headers: headersOf(message), take, signal });

function headersOf(message: Message): Record<string, string> {
  const name = message.params?.[NAMED_BY.get(message.method ?? "") ?? ""];
  return {
    "mcp-protocol-version": String(revisionOf(message)),
    ...(message.method !== undefined && { "mcp-method": inHeader(message.method) }),
    ...(typeof name === "string" && { "mcp-name": inHeader(name) }),
  };
}

/** Text as a header's value: as it is where that is safe, else in the sentinel of SEP-2243. */
function inHeader(text: string): string {
  const isPlain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !(text.startsWith("=?base64?") && text.endsWith("?="));
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/**
 * A subscription outlives the server, as a session does: a stream that ends is opened again, and the client, which has no way of
 * knowing, is told to read again what it listens to.
 */
async function listen(request: StatelessRequest): Promise<UpstreamReply> {
  const { message, signal, clock } = request;
  let isAcknowledged = false;
  let isRefused = false;
  const take = (taken: Message): void => {
    if (taken.method === "notifications/subscriptions/acknowledged") {
      if (isAcknowledged) for (const note of missedBy(taken)) request.take(note);
      else request.take(taken);
      isAcknowledged = true;
    } else if (taken.id !== message.id) request.take(taken);
    else if (taken.error || !isAcknowledged) {
      isRefused = true;
      request.take(taken);
    }
  };
  for (;;) {
    try {
      const reply = await post({ ...request, take });
      if (isRefused || !isAcknowledged) return reply;
    } catch (thrown) {
      if (signal.aborted || !isAcknowledged) throw thrown;
    }
    if (!(await clock.pause(RETRY_MS, signal))) throw signal.reason;
  }
}

/** News of every resource that an acknowledged subscription is about. */
function missedBy({ params }: Message): readonly Message[] {
  const filter = params?.notifications as { readonly resourceSubscriptions?: readonly string[] } | undefined;
  return (filter?.resourceSubscriptions ?? []).map((uri) => updated(uri, params?._meta));
}
