import { sha256Hex } from "#shared/lib/hash.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { envelopesIn } from "./checks/envelopes.ts";
import { createHostile } from "./hostile.ts";
import { type Change, createLiar, type Victims } from "./liar.ts";
import { type Behaviour, SLOW_MOVE_MS } from "./plan.ts";

/** Returns the network of a player with a behaviour, which changes the answers of the player. */
export function withBehaviour(behaviour: Behaviour, self: AgentProcess, victims: Victims): Network {
  const { network } = self;
  if (behaviour === "well") return network;
  const closed = new AbortController();
  const change = changeOf(behaviour, self, victims, closed.signal);
  return {
    ...network,
    async listen(options) {
      const listening = await network.listen({
        ...options,
        handler: async (body, http) => change(body, await options.handler(body, http)),
      });
      if (!listening.ok) return listening;
      const close = async (): Promise<void> => {
        await listening.value.close();
        closed.abort();
      };
      return { ok: true, value: { ...listening.value, close } };
    },
  };
}

/** Whether an unsteady player is silent in the match of a request: in about half of the matches. */
const isSilentIn = (request: string): boolean =>
  envelopesIn(request).some(
    ({ payload }) => Number.parseInt(sha256Hex(String(payload.match_id)).slice(0, 2), 16) < 128,
  );

function changeOf(behaviour: Behaviour, self: AgentProcess, victims: Victims, closed: AbortSignal): Change {
  const onMoveRequest =
    (change: Change): Change =>
    (request, honest) =>
      request.includes('"MOVE_REQUEST"') ? change(request, honest) : honest;
  const replace =
    (pattern: string | RegExp, replacement: string): Change =>
    (_, honest) => ({ ...honest, body: honest.body.replace(pattern, replacement) });
  switch (behaviour) {
    case "silent":
      return onMoveRequest(() => new Promise(() => {}));
    case "unsteady":
      return onMoveRequest((request, honest) => (isSilentIn(request) ? new Promise(() => {}) : honest));
    case "slow":
      return onMoveRequest(async (_, honest) => {
        await self.clock.pause(SLOW_MOVE_MS, closed);
        return honest;
      });
    case "illegal":
      return onMoveRequest(replace(/\\"move\\":(\\"[^"]*\\"|[^,}]*)/, '\\"move\\":\\"nonsense\\"'));
    case "garbage":
      return onMoveRequest((_, honest) => ({ ...honest, body: "<html>" }));
    case "declining":
      return replace('\\"accept\\":true', '\\"accept\\":false');
    case "lying":
      return createLiar(self, victims, closed);
    case "hostile":
      return createHostile(self, victims, closed);
    default:
      return (_, honest) => honest;
  }
}
