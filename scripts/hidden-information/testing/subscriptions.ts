/** MCP clients that are subscribed to resources, and every byte that they receive. */
import { connectHost, type Era } from "../../../referee/codenames/testing/host.ts";

/** The subscribed client and the notifications that it has received since the last call of `drain`. */
export interface Subscription {
  /** Resolves when the client has been notified of this resource since the last call of `drain`. */
  notified(uri: string): Promise<void>;
  /** Returns the bytes that have been received since the last call. */
  drain(): string;
  close(): Promise<void>;
}

/** The surfaces of notifications: a client of each era of MCP. */
export const NOTIFICATIONS: Readonly<Record<Era, string>> = {
  session: "MCP notification",
  stateless: "MCP notification, stateless",
};

/** Connects a client and subscribes it to resources. Bytes that it receives earlier are discarded. */
export async function subscribe(
  url: string,
  era: Era,
  uris: readonly string[],
  token: string | null,
): Promise<Subscription> {
  let bytes = "";
  let updated = new Set<string>();
  let onUpdate = Promise.withResolvers<void>();
  const options = { fetch: recordingFetch((text) => (bytes += text)), ...(token !== null && { bearer: token }) };
  const client = await connectHost(`${url}/mcp`, era, null, options);
  await client.subscribe(uris, (uri) => {
    updated.add(uri);
    onUpdate.resolve();
    onUpdate = Promise.withResolvers();
  });
  bytes = "";
  return {
    async notified(uri) {
      while (!updated.has(uri)) await onUpdate.promise;
    },
    drain() {
      const text = bytes;
      bytes = "";
      updated = new Set();
      return text;
    },
    close: () => client.close(),
  };
}

/** Returns a `fetch` that also passes each chunk of a response to `received`. */
function recordingFetch(received: (text: string) => void): typeof fetch {
  return async (to, init) => {
    const response = await fetch(to, init);
    if (!response.body) return response;
    const [recorded, forwarded] = response.body.tee();
    const decoder = new TextDecoder();
    void recorded
      .pipeTo(new WritableStream({ write: (chunk) => received(decoder.decode(chunk, { stream: true })) }))
      .catch(() => {}); // the client has closed the connection
    return new Response(forwarded, response);
  };
}
