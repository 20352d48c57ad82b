import type { Clock } from "../../lib/clock.ts";
import type { Id, Message, Upstream, UpstreamReply } from "./upstream.ts";

interface BridgeSessionOptions {
  readonly upstream: Upstream;
  /** Hands a message to the client. */
  readonly give: (message: Message) => void;
  /** A line for whoever reads the bridge's log. */
  readonly tell: (line: string) => void;
  /** Aborted when the bridge closes. */
  readonly closing: AbortSignal;
  readonly clock: Clock;
}

/**
 * A client's session with an MCP server of the revisions 2024-11-05 to 2025-11-25. It outlives the server: one that has been started
 * again gets the client's `initialize` and its subscriptions anew, because a client on stdio would never begin a second time.
 */
interface BridgeSession {
  /** Sends a message of the client and hands what comes back to `take`; rejects as `Upstream.exchange` does. */
  send(message: Message, take: (message: Message) => void, signal: AbortSignal): Promise<UpstreamReply>;
  /** Tells the server that the session is over. */
  end(signal: AbortSignal): Promise<void>;
}

/** What the server has given: its id, if it keeps sessions at all, and the revision agreed upon. */
interface Given {
  readonly id: string | null;
  readonly revision: string;
}

/** How long to wait before a stream that broke is opened again. */
export const RETRY_MS = 1_000;
/** The id of an `initialize` that the client knows nothing of. */
const AGAIN = "initialize-again";
const MAX_SUBSCRIPTIONS = 1_000;

const isSuccess = (message: Message, { id }: Message): boolean => message.id === id && message.result !== undefined;

export function bridgeSession({ upstream, give, tell, closing, clock }: BridgeSessionOptions): BridgeSession {
  /** The client's own `initialize`, to be said again to a server that has forgotten it. */
  let opening: Message | null = null;
  let given: Given | null = null;
  let renewing: Promise<void> | null = null;
  let isHearing = false;
  const subscriptions = new Set<string>();
  /** Requests of the server that the client has yet to answer. */
  const asked = new Set<Id>();

  const headers = (): Record<string, string> => ({
    ...(given && { "mcp-protocol-version": given.revision }),
    ...(given?.id && { "mcp-session-id": given.id }),
  });
  const post = (message: Message, take: (message: Message) => void, signal: AbortSignal): Promise<UpstreamReply> =>
    upstream.exchange({ method: "POST", message, headers: headers(), take, signal });

  /** Hands over a message of the server, and notes what it asks. */
  const heard = (message: Message): void => {
    if (message.method !== undefined && message.id !== undefined) asked.add(message.id);
    if (message.method === "notifications/cancelled") asked.delete(message.params?.requestId as Id);
    give(message);
  };

  const initialize = async (
    message: Message,
    take: (message: Message) => void,
    signal: AbortSignal,
  ): Promise<UpstreamReply> => {
    let revision: string | null = null;
    const taken = (answer: Message): void => {
      if (isSuccess(answer, message)) revision = String((answer.result as Message["params"])?.protocolVersion);
      take(answer);
    };
    const reply = await upstream.exchange({ method: "POST", message, headers: {}, take: taken, signal });
    if (revision !== null) given = { id: reply.sessionId, revision };
    return reply;
  };

  /** Begins anew with a server that does not know the session any more; calls at once share one beginning. */
  const renew = async (lost: Given | null): Promise<void> => {
    if (given !== lost) return;
    renewing ??= beginAnew(lost).finally(() => {
      renewing = null;
    });
    await renewing;
  };
  const beginAnew = async (lost: Given | null): Promise<void> => {
    for (const requestId of asked) give(notification("notifications/cancelled", { requestId }));
    asked.clear();
    await initialize({ ...(opening as Message), id: AGAIN }, () => {}, closing);
    if (given === lost) throw new Error("The MCP server has lost the session and begins no other");
    try {
      await post(notification("notifications/initialized"), heard, closing);
      for (const uri of subscriptions) await post(subscription(uri), () => {}, closing);
    } catch (thrown) {
      given = lost; // half a beginning is none
      throw thrown;
    }
    tell("the server had lost the session; it goes on in a new one");
  };

  /** Listens to what the server says unasked, in one session after the other. */
  const hear = async (): Promise<void> => {
    if (isHearing) return;
    isHearing = true;
    await hearOn();
    isHearing = false;
  };
  const hearOn = async (): Promise<void> => {
    let hasHeard = false;
    const begun = (status: number): void => {
      if (hasHeard && status === 200) for (const uri of subscriptions) give(updated(uri));
      hasHeard = true;
    };
    while (!closing.aborted) {
      const own = given;
      try {
        const stream = { headers: headers(), take: heard, begun, signal: closing };
        const { status } = await upstream.exchange({ method: "GET", ...stream });
        if (status === 404) await renew(own);
        else if (status !== 200) return; // it has nothing to say
      } catch {
        // Down for now: requests are told so, and this goes on trying.
      }
      await clock.pause(RETRY_MS, closing);
    }
  };

  const noteSubscription = (message: Message): void => {
    const uri = String(message.params?.uri);
    if (message.method === "resources/unsubscribe") subscriptions.delete(uri);
    else if (message.method === "resources/subscribe" && subscriptions.size < MAX_SUBSCRIPTIONS) subscriptions.add(uri);
  };

  const leave = async (signal: AbortSignal): Promise<void> => {
    const left = given;
    const own = headers();
    given = null;
    if (left?.id) await upstream.exchange({ method: "DELETE", headers: own, signal });
  };

  return {
    async send(message, take, signal) {
      if (message.method === "initialize") {
        await leave(closing).catch(() => {}); // the client begins a second time
        opening = message;
        subscriptions.clear();
        return initialize(message, take, signal);
      }
      const isAnswer = message.method === undefined;
      if (isAnswer && !asked.delete(message.id as Id)) return NOTHING; // whoever asked has gone
      const taken = (answer: Message): void => {
        if (isSuccess(answer, message)) noteSubscription(message);
        if (answer.method === undefined) take(answer);
        else heard(answer);
      };
      const used = given;
      let reply = await post(message, taken, signal);
      if (reply.status === 404 && used?.id) {
        await renew(used);
        if (isAnswer) return NOTHING;
        reply = await post(message, taken, signal);
      }
      if (message.method === "notifications/initialized" && reply.status === 202) void hear();
      return reply;
    },
    end: leave,
  };
}

const NOTHING: UpstreamReply = { status: 202, sessionId: null, text: "" };

export const notification = (method: string, params?: Message["params"]): Message => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});

/** What tells a client to read a resource again; of the stateless era it names the subscription in `_meta`. */
export const updated = (uri: string, _meta?: unknown): Message =>
  notification("notifications/resources/updated", { uri, ...(_meta !== undefined && { _meta }) });

const subscription = (uri: string): Message => ({
  jsonrpc: "2.0",
  id: `subscribe-again ${uri}`,
  method: "resources/subscribe",
  params: { uri },
});
