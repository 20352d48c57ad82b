import { messageOf } from "../../lib/result.ts";
import { type Bridge, type BridgeOptions, createBridge, errorFor, NO_CONNECTION } from "./bridge.ts";
import type { Id, Message } from "./upstream.ts";

/** An MCP server, by a name that stays the same when its address changes. */
export interface NamedServer {
  readonly name: string;
  /** Its endpoint, e.g. `http://127.0.0.1:8002/mcp`. */
  readonly url: string;
}

export interface RouterOptions extends BridgeOptions {
  /** The server that a message is meant for; null for the one at `url`. */
  readonly serverFor: (message: Message) => Promise<NamedServer> | null;
}

/** A bridge to a server that is not the client's own. */
interface Other {
  readonly url: string;
  readonly bridge: Bridge;
}

/** A request that another server made of the client: two servers may use the same id. */
interface Asked {
  readonly other: Other;
  readonly id: Id;
}

const HANDSHAKE_ID = "initialize-another-server";
const MAX_ASKED = 1_000;

/**
 * A bridge to several MCP servers, for a client that knows of one: each message goes to the server that it is meant for. Another server is
 * given the client's own handshake first.
 */
export function createRouter({ url, give, tell, serverFor, clock }: RouterOptions): Bridge {
  const own = createBridge({ url, give, tell, clock });
  const others = new Map<string, Other>();
  /** Requests of the client that were sent to another server, for their cancellation. */
  const sentTo = new Map<Id, Promise<Bridge>>();
  const asked = new Map<Id, Asked>();
  let handshake: readonly Message[] = [];
  let askedCount = 0;

  /** Hands over a message of another server, with ids that no other server uses. */
  const giveFrom = (other: () => Other, message: Message): void => {
    if (message.id === HANDSHAKE_ID) return;
    if (message.method !== undefined && message.id !== undefined) {
      const id = `other-${++askedCount}`;
      if (asked.size >= MAX_ASKED) asked.delete(asked.keys().next().value ?? "");
      asked.set(id, { other: other(), id: message.id });
      give({ ...message, id });
    } else if (message.method === "notifications/cancelled") {
      const [known] = [...asked].find(([, one]) => one.other === other() && one.id === message.params?.requestId) ?? [];
      if (known === undefined) return;
      asked.delete(known);
      give({ ...message, params: { ...message.params, requestId: known } });
    } else give(message);
  };

  const bridgeTo = ({ name, url }: NamedServer): Bridge => {
    const known = others.get(name);
    if (known?.url === url) return known.bridge;
    void known?.bridge.close();
    const bridge = createBridge({ url, tell, clock, give: (message) => giveFrom(() => other, message as Message) });
    const other: Other = { url, bridge };
    others.set(name, other);
    for (const message of handshake) {
      void bridge.take(message.id === undefined ? message : { ...message, id: HANDSHAKE_ID });
    }
    return bridge;
  };

  const requestElsewhere = async (message: Message, id: Id, server: Promise<NamedServer>): Promise<void> => {
    const bridge = server.then(bridgeTo);
    sentTo.set(id, bridge);
    try {
      await (await bridge).take(message);
    } catch (thrown) {
      give(errorFor(id, NO_CONNECTION, messageOf(thrown)));
      tell(`${message.method}: ${messageOf(thrown)}`);
    }
    if (sentTo.get(id) === bridge) sentTo.delete(id);
  };

  /** A cancelled request whose server cannot be reached has been answered already. */
  const cancelElsewhere = (message: Message, bridge: Promise<Bridge>): Promise<void> =>
    bridge.then(
      (found) => found.take(message),
      () => {},
    );

  return {
    take(message) {
      const { id, method, params } = message;
      if (method === "initialize") {
        handshake = [message];
        for (const { bridge } of others.values()) void bridge.close();
        others.clear();
        return own.take(message);
      }
      if (method === "notifications/initialized") {
        handshake = [...handshake, message];
        return own.take(message);
      }
      if (method === "notifications/cancelled") {
        const bridge = sentTo.get(params?.requestId as Id);
        return bridge ? cancelElsewhere(message, bridge) : own.take(message);
      }
      if (method === undefined) {
        const question = asked.get(id as Id);
        asked.delete(id as Id);
        return question ? question.other.bridge.take({ ...message, id: question.id }) : own.take(message);
      }
      const server = id === undefined ? null : serverFor(message);
      return id === undefined || server === null ? own.take(message) : requestElsewhere(message, id, server);
    },
    async close() {
      await Promise.all([own.close(), ...[...others.values()].map(({ bridge }) => bridge.close())]);
    },
  };
}
