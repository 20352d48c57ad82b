import type { Clock } from "#shared/lib/clock.ts";
import type { HttpContext, HttpReply, McpHandler } from "#shared/rpc/http.ts";
import type { Network } from "#shared/rpc/network.ts";
import { type Behaviour, MOVE_MS } from "./plan.ts";

/** The network of a player whose answers are changed as its behaviour says. */
export function misbehaving(behaviour: Behaviour, network: Network, clock: Clock): Network {
  if (behaviour === "well") return network;
  return {
    ...network,
    listen: (options) => network.listen({ ...options, handler: changed(behaviour, options.handler, clock) }),
  };
}

function changed(behaviour: Behaviour, handler: McpHandler, clock: Clock): McpHandler {
  return async (body: string, http: HttpContext): Promise<HttpReply> => {
    const isMove = body.includes('"MOVE_REQUEST"');
    const isInvitation = body.includes('"GAME_INVITE"');
    const reply = await handler(body, http);
    if (!isMove && !(behaviour === "declining" && isInvitation)) return reply;
    switch (behaviour) {
      case "silent":
        return new Promise(() => {});
      case "slow":
        await clock.pause(MOVE_MS / 10);
        return reply;
      case "illegal":
        return { ...reply, body: reply.body.replace(/\\"move\\":(\\"[^"]*\\"|[^,}]*)/, '\\"move\\":\\"nonsense\\"') };
      case "garbage":
        return { ...reply, body: "<html>" };
      case "declining":
        return { ...reply, body: reply.body.replace('\\"accept\\":true', '\\"accept\\":false') };
      default:
        return reply;
    }
  };
}
