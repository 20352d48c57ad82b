import { createRandom } from "#shared/lib/rng.ts";
import { type DialectPeers, withDialects } from "#shared/rpc/dialects/dialect-peers.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { localUrl, machineAddresses, urlsOf } from "#shared/rpc/http/machine-addresses.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { inboxOwnerOf } from "../agents/inbox-endpoint.ts";
import type { Homes } from "../cluster/homes.ts";
import type { EndpointFor } from "../effects/effects-context.ts";
import type { Ledger } from "../ledger.ts";
import { withInboxes } from "./inbox-peers.ts";
import { endpointFor, inboxUrl, type ManagerUrls } from "./inbox-urls.ts";
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
