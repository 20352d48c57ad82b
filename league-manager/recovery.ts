import { pause } from "#shared/lib/clock.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { Agent } from "./agents.ts";
import type { AgentRegistry } from "./registry.ts";

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;

/** Asks suspended players for their health; one that answers is active again (PROTOCOL.md, section 2). Returns the way to stop. */
export function watchSuspended(registry: AgentRegistry, peers: Peers, onError: (thrown: unknown) => void): () => void {
  const timer = setInterval(() => {
    const suspended = registry.all("player").filter(({ state, endpoint }) => state === "SUSPENDED" && endpoint !== "");
    for (const player of suspended) {
      peers
        .isAlive(new URL("/health", player.endpoint).href, PROBE_TIMEOUT_MS)
        .then((alive) => (alive ? registry.move(player, "recover") : undefined))
        .catch(onError);
    }
  }, PROBE_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** How long a league that goes on waits for its players to be there again. */
const RETURN_LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until players listen, at most ten seconds: after `league run --resume` they start at the same time as the manager,
 * and nobody is to lose a match for that.
 */
export async function awaitPlayers(players: readonly Agent[], peers: Peers, stopped: AbortSignal): Promise<void> {
  const deadline = performance.now() + RETURN_LIMIT_MS;
  const isBack = async (player: Agent): Promise<void> => {
    while (performance.now() < deadline && !(await peers.isListening(player.endpoint, PROBE_TIMEOUT_MS))) {
      if (!(await pause(LOOK_EVERY_MS, stopped))) return;
    }
  };
  await Promise.all(players.filter(({ endpoint }) => endpoint !== "").map(isBack));
}
