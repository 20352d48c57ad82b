import type { Peers } from "#shared/rpc/peer.ts";
import type { AgentRegistry } from "./registry.ts";

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;

/** Asks suspended players for their health; one that answers is active again (PROTOCOL.md, section 2). Returns the way to stop. */
export function watchSuspended(registry: AgentRegistry, peers: Peers, onError: (thrown: unknown) => void): () => void {
  const timer = setInterval(() => {
    for (const player of registry.all("player").filter(({ state }) => state === "SUSPENDED")) {
      peers
        .isAlive(new URL("/health", player.endpoint).href, PROBE_TIMEOUT_MS)
        .then((alive) => (alive ? registry.move(player, "recover") : undefined))
        .catch(onError);
    }
  }, PROBE_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
