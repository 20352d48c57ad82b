import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from "@modelcontextprotocol/client";
import type { Clock } from "../../lib/clock.ts";
import { RETRY_MS } from "./bridge-session.ts";
import type { Reply } from "./connection.ts";
import { isResponse, updated } from "./messages.ts";
import type { Upstream } from "./upstream.ts";

interface Subscription {
  readonly upstream: Upstream;
  /** The request `subscriptions/listen`. */
  readonly message: JSONRPCRequest;
  readonly onMessage: (message: JSONRPCMessage) => void;
  /** Aborting it ends the subscription. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/**
 * Forwards a subscription of the stateless revision. When its stream ends, for example by a restart of the server, the subscription is sent
 * again. The client does not receive the second acknowledgement. It is notified of every resource, because it may have missed a change.
 * Resolves only if the server rejects the subscription; rejects as `Upstream.exchange` does before the server has acknowledged it.
 */
export async function listen({ upstream, message, onMessage, signal, clock }: Subscription): Promise<Reply> {
  let isAcknowledged = false;
  let isRejected = false;
  const receive = (received: JSONRPCMessage): void => {
    if ("method" in received && received.method === ACKNOWLEDGED) {
      for (const one of isAcknowledged ? updates(received) : [received]) onMessage(one);
      isAcknowledged = true;
    } else if (!isResponse(received)) onMessage(received);
    else if ("error" in received || !isAcknowledged) {
      isRejected = true;
      onMessage(received);
    }
  };
  for (;;) {
    try {
      const reply = await upstream.exchange(message, { session: null, onMessage: receive, signal });
      if (isRejected || !isAcknowledged) return reply;
    } catch (thrown) {
      if (signal.aborted || !isAcknowledged) throw thrown;
    }
    if (!(await clock.pause(RETRY_MS, signal))) throw signal.reason;
  }
}

/** Returns a notification for each resource of an acknowledged subscription. */
function updates({ params }: JSONRPCNotification | JSONRPCRequest): readonly JSONRPCMessage[] {
  const filter = params?.notifications as { readonly resourceSubscriptions?: readonly string[] } | undefined;
  return (filter?.resourceSubscriptions ?? []).map((uri) => updated(uri, params?._meta));
}
