import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Agent } from "../agents/agent.ts";
import { MANAGER_SENDER } from "./part.ts";

const TIMEOUT_MS = 2_000;
/** The sender of a player of this program that does not know its id yet. */
const UNREGISTERED = "player:new";

/**
 * Whether another program, or none, answers at a registered player's endpoint (PROTOCOL.md, section 3). The endpoint is sent an empty
 * message that is signed for the registered player. The player has left if the connection is refused, if the answer is that the message
 * is not signed for the receiver, or if the answer names another player as its sender. Any other answer or fault may be the registered
 * player's: a player without a secret cannot check the signature, and a connection that is reset or times out proves nothing.
 */
export const hasLeft =
  (peers: Pick<Peers, "message">, clock: Clock, ids: Ids, leagueId: string) =>
  async (player: Pick<Agent, "id" | "name" | "endpoint" | "tokenHash">): Promise<boolean> => {
    const authToken = signFor(player.tokenHash, leagueId);
    const nothing = { league_id: leagueId, round_id: 0, matches: [] };
    const envelope = newEnvelope("ROUND_ANNOUNCEMENT", MANAGER_SENDER, nothing, {
      messageId: ids.uuid(),
      authToken,
      at: clock.iso(),
    });
    const reply = await peers.message(player.endpoint, envelope, { timeoutMs: TIMEOUT_MS }).catch(() => null);
    if (reply === null) return false; // this machine had no files or memory to send it
    if (!reply.ok) return reply.error.isNothingListening === true;
    const { payload, sender } = reply.value;
    if (payload.error_code === "L004") return !hasNoSecret(payload);
    const own = [`player:${player.id}`, `player:${player.name}`, UNREGISTERED];
    return sender.startsWith("player:") && !own.includes(sender);
  };

/** A player without a secret rejects every message from another machine with L004 and `has_secret: false`. */
const hasNoSecret = ({ context }: Readonly<Record<string, unknown>>): boolean =>
  typeof context === "object" && context !== null && "has_secret" in context && context.has_secret === false;
