import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import { inboxEndpoint } from "../../../league-manager/agents/registered-agent.ts";
import { ALONE } from "../../../league-manager/cluster/other-managers.ts";
import { inboxRoutes, inboxSocket, POLL_BYTES } from "../../../league-manager/inbox/inbox-routes.ts";
import { Inboxes } from "../../../league-manager/inbox/inboxes.ts";
import type { Subject } from "./subject.ts";

interface CheckInbox {
  /** The interfaces of the inbox, as the manager of a league serves them. */
  readonly serving: Pick<ListenOptions, "posts" | "upgrade" | "bodyLimit">;
  close(): void;
}

/** The inbox of a player that registers without an endpoint. `known` returns the registered player. */
export function checkInbox(known: () => Subject | null, clock: Clock, ids: Ids): CheckInbox {
  const inboxes = new Inboxes(clock, createRandom(ids.token()).next());
  const context = {
    ...ALONE,
    inboxes,
    projections: {
      agent(playerId: string) {
        const player = known();
        if (!player?.hasInbox || player.playerId !== playerId) return null;
        return { endpoint: inboxEndpoint(playerId, false), tokenHash: sha256Hex(player.token ?? "") };
      },
      authenticate(token: string | null) {
        const player = known();
        return player?.token && equalSecrets(token ?? "", player.token) ? { id: player.playerId } : null;
      },
    },
  };
  const serving = { posts: inboxRoutes(context), upgrade: inboxSocket(context), bodyLimit: () => POLL_BYTES };
  return { serving, close: () => inboxes.close() };
}
