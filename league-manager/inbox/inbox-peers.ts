import type { Clock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { inboxOwnerOf } from "../agents/inbox-endpoint.ts";
import type { Homes } from "../cluster/homes.ts";
import type { Inboxes } from "./inboxes.ts";

/**
 * Returns a client that puts the manager's messages to players with an inbox into their inboxes, here or at another manager. All other calls use `peers`.
 */
export function withInboxes(peers: Peers, inboxes: Inboxes, homes: Homes, clock: Clock): Peers {
  /** Whether a player polls its inbox; null if the URL does not denote an inbox. */
  const isAttended = (url: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean> | boolean | null => {
    const playerId = inboxOwnerOf(url);
    if (playerId === null) return null;
    const home = homes.of(playerId);
    if (home === "here") return inboxes.isAttended(playerId);
    return home === "unknown" ? false : home.isAttended(timeoutMs, signal);
  };
  return {
    ...peers,
    async notify(endpoint, envelope, options) {
      const playerId = inboxOwnerOf(endpoint);
      if (playerId === null) return peers.notify(endpoint, envelope, options);
      const home = homes.of(playerId);
      if (home === "unknown") return UNKNOWN;
      if (home !== "here") return peers.notify(home.inboxEndpoint, envelope, options);
      const request = { method: "tools/call", params: { name: "league_message", arguments: envelope } };
      const timeout = new AbortController();
      const cancelTimer = clock.after(options.timeoutMs, () => timeout.abort());
      const signal = options.signal ? AbortSignal.any([timeout.signal, options.signal]) : timeout.signal;
      const { kind } = await inboxes.ask(playerId, request, signal).finally(cancelTimer);
      if (kind === "answered") return ok(null);
      return err(kind === "refused" ? { cause: "refused", detail: UNREACHABLE } : { cause: "timeout", detail: SILENT });
    },
    async probe(url, timeoutMs, signal) {
      const attended = isAttended(url, timeoutMs, signal);
      if (attended === null) return peers.probe(url, timeoutMs, signal);
      return (await attended) ? "alive" : "silent";
    },
    isListening: async (url, timeoutMs, signal) =>
      isAttended(url, timeoutMs, signal) ?? peers.isListening(url, timeoutMs, signal),
  };
}

const UNREACHABLE = "the player does not poll its inbox";
const SILENT = "the player has not answered in time";
const UNKNOWN = err({ cause: "refused", detail: "the inbox of the player is at no known manager" } as const);
