import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { SharedRun } from "./opened-run.ts";

/** Longer than two checks of a proxy that asks for `/ready` each second, after which the example configurations leave a manager out. */
const LEAVE_MS = 2_500;

/** Whether a manager can answer all requests: it has joined the others, the database answers, and it is not about to stop. */
export function readinessOf(cluster: Cluster | null, shared: SharedRun | null, clock: AgentProcess["clock"]) {
  let [hasJoined, isLeaving] = [false, false];
  const isAvailable = (): boolean => cluster === null || (cluster.isJoined() && (shared?.isAvailable() ?? true));
  return {
    isAvailable,
    onJoined() {
      hasJoined = true;
    },
    probes: {
      isReady: () => isAvailable() && !isLeaving,
      whyNotReady: () => (isLeaving ? "stopping" : hasJoined ? "the database does not answer" : null),
    },
    /** Makes one of several managers no longer ready, and waits until a proxy sends its requests to the others. */
    async leave() {
      if (cluster === null || cluster.memberCount() < 2) return;
      isLeaving = true;
      await clock.pause(LEAVE_MS);
    },
  };
}
