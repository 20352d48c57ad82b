import type { Clock } from "#shared/lib/clock.ts";
import { err, ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { isOnThisMachine, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { type DialectPeers, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { localUrl, machineAddresses, urlsOf } from "#shared/rpc/http/machine-addresses.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { inboxOwnerOf } from "../agents/registered-agent.ts";
import type { Homes } from "../cluster/other-managers.ts";
import type { EndpointFor } from "../effects/effects-context.ts";
import type { Ledger } from "../ledger.ts";
import { Inboxes } from "./inboxes.ts";

interface ManagerInboxesOptions {
  readonly config: Pick<Config, "manager">;
  readonly ledger: Ledger;
  readonly homes: Homes;
  /** Whether the run has only this manager. */
  readonly isAlone: boolean;
  /** Returns the open endpoint of the manager; null before it listens. */
  readonly listening: () => Listening | null;
}

/** The inboxes of a manager, with the parts of the manager that depend on them. */
interface ManagerInboxes {
  readonly inboxes: Inboxes;
  /** The client for the endpoints of other agents, and for the inboxes. */
  readonly peers: DialectPeers;
  readonly endpointFor: EndpointFor;
  /** Returns the URL of the inbox of a player that has called the manager at `origin`. */
  inboxUrl(playerId: string, origin: string | undefined): string;
  /** Ends all polls and requests, and closes the client. */
  close(): Promise<void>;
}

export function managerInboxes(
  { config, ledger, homes, isAlone, listening }: ManagerInboxesOptions,
  { clock, ids, network }: Pick<AgentProcess, "clock" | "ids" | "network">,
): ManagerInboxes {
  const inboxes = new Inboxes(clock, createRandom(ids.token()).next());
  const reached = withInboxes(network.createPeers(), inboxes, homes, clock);
  const peers = withDialects(reached, network.comesFrom, clock, ids);
  const removeListeners = [
    dropOnChange(ledger, inboxes),
    homes.onChange(() => inboxes.keepOnly((playerId) => homes.of(playerId) === "here")),
  ];
  const urls = (): ManagerUrls => {
    const server = listening();
    const local = server?.url ?? localUrl(config.manager.host, config.manager.port);
    const remote = server?.isOnEveryAddress ? urlsOf("::", server.port, network.interfaces()) : (server?.urls ?? []);
    return { configured: config.manager.endpoint, local, remote, isAlone };
  };
  return {
    inboxes,
    peers,
    endpointFor: (referee, endpoint) => endpointFor(referee, endpoint, urls(), machineAddresses(network.interfaces())),
    inboxUrl: (playerId, origin) => inboxUrl(playerId, urls(), origin),
    async close() {
      for (const remove of removeListeners) remove();
      inboxes.close();
      await peers.close();
    },
  };
}

/** Ends the polls and requests of a player when its token or its endpoint changes or it is no longer registered. */
function dropOnChange(ledger: Ledger, inboxes: Inboxes): () => void {
  return ledger.onCommit(({ events, state }) => {
    for (const committed of events) {
      if (committed.kind !== "agent") continue;
      const { agentId, event } = committed;
      const hasInbox = inboxOwnerOf(state.agents.get(agentId)?.endpoint ?? "") === agentId;
      if (event.type === "token_reset" || !hasInbox) inboxes.drop(agentId);
    }
  });
}

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

/** The URLs at which others reach the manager. */
interface ManagerUrls {
  /** `manager.endpoint` of the config: the URL of `/mcp` behind a proxy; undefined without one. */
  readonly configured: string | undefined;
  /** The origin for programs on this machine. */
  readonly local: string;
  /** The origins for other machines, the most likely first. */
  readonly remote: readonly string[];
  /** Whether the run has only this manager. With several, the configured URL is that of their proxy, and remains valid when this manager ends. */
  readonly isAlone: boolean;
}

/**
 * Returns the endpoint that START_GAME contains for a player: for a player with an inbox, an ordinary URL on the manager that the referee can call. Other
 * endpoints are returned unchanged.
 */
function endpointFor(
  referee: { readonly endpoint: string },
  endpoint: string,
  urls: ManagerUrls,
  machineAddresses: MachineAddresses,
): string {
  const playerId = inboxOwnerOf(endpoint);
  if (playerId === null) return endpoint;
  const isLocal = isOnThisMachine(referee.endpoint, machineAddresses);
  const own = isLocal ? urls.local : (urls.remote[0] ?? urls.local);
  const base = isLocal && urls.isAlone ? urls.local : (urls.configured ?? own);
  return new URL(`inbox/${playerId}/mcp`, withSlash(base)).href;
}

/** Returns the URL of an inbox for its player. `origin` is the one by which the player has called the manager; undefined if it is unknown. */
const inboxUrl = (playerId: string, urls: ManagerUrls, origin: string | undefined): string =>
  new URL(`inbox/${playerId}`, withSlash(urls.configured ?? (origin || urls.local))).href;

/** A relative URL replaces the last segment of the base, which is `mcp` or empty. */
const withSlash = (base: string): string => (base.includes("/", base.indexOf("://") + 3) ? base : `${base}/`);
