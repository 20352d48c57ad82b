/** MCP clients that are subscribed to resources, and every byte that they receive. */
import { connectHost, type Era } from "../../../referee/codenames/testing/host.ts";

/** Notifications of a client since the last call of `taken`. */
export interface Subscription {
  /** Resolves when the server has notified of this resource since the last call of `taken`. */
  notified(uri: string): Promise<void>;
  /** The bytes that have been received since the last call. */
  taken(): string;
  close(): Promise<void>;
}

/** The surfaces of notifications: a client of each era of MCP. */
export const NOTIFICATIONS: Readonly<Record<Era, string>> = {
  session: "MCP notification",
  stateless: "MCP notification, stateless",
};

/** Subscribes to resources. Bytes count from then on. */
export async function subscribe(
  url: string,
  era: Era,
  uris: readonly string[],
  token: string | null,
): Promise<Subscription> {
  let bytes = "";
  let updated = new Set<string>();
  let onUpdate = Promise.withResolvers<void>();
  const options = { fetch: listening((text) => (bytes += text)), ...(token !== null && { bearer: token }) };
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
    taken() {
      const text = bytes;
      bytes = "";
      updated = new Set();
      return text;
    },
    close: () => client.close(),
  };
}

/** Requests whose responses are also given to `received`, chunk by chunk. */
function listening(received: (text: string) => void): typeof fetch {
  return async (to, init) => {
    const response = await fetch(to, init);
    if (!response.body) return response;
    const [mine, theirs] = response.body.tee();
    const decoder = new TextDecoder();
    void mine
      .pipeTo(new WritableStream({ write: (chunk) => received(decoder.decode(chunk, { stream: true })) }))
      .catch(() => {}); // the client has closed the connection
    return new Response(theirs, response);
  };
}
