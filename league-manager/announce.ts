import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { MessageType } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { Agent } from "./agents.ts";

/** The payload of a league-wide message. */
export type News = { readonly league_id: string } & Readonly<Record<string, unknown>>;

/** News of a league to its agents: best effort, in order for each agent, and nobody waits for it. */
export interface Announcer {
  tell(agents: readonly Agent[], type: MessageType, payload: News): void;
  /** Resolves when all that was said has been heard or given up, at the latest after `limitMs`. */
  settle(limitMs: number): Promise<void>;
}

/** News waiting for one agent that does not listen; what comes on top is dropped. */
const MAX_WAITING = 100;

export function createAnnouncer(peers: Peers, sender: string, timeoutMs: number): Announcer {
  const queues = new Map<string, { last: Promise<unknown>; length: number }>();

  const say = (agent: Agent, type: MessageType, payload: News): void => {
    const queue = queues.get(agent.id) ?? { last: Promise.resolve(), length: 0 };
    queues.set(agent.id, queue);
    if (queue.length >= MAX_WAITING) return;
    queue.length++;
    const authToken = signFor(agent.tokenHash, payload.league_id);
    queue.last = queue.last
      .then(() => peers.notify(agent.endpoint, newEnvelope(type, sender, payload, { authToken }), { timeoutMs }))
      .finally(() => queue.length--);
  };

  return {
    tell(agents, type, payload) {
      for (const agent of agents) say(agent, type, payload);
    },
    async settle(limitMs) {
      const all = Promise.allSettled([...queues.values()].map((queue) => queue.last));
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise((resolve) => {
        timer = setTimeout(resolve, limitMs);
      });
      await Promise.race([all, limit]);
      clearTimeout(timer);
    },
  };
}
