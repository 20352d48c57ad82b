import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { MANAGER_SENDER } from "./effects-context.ts";

const TIMEOUT_MS = 2_000;

/**
 * Returns a function that checks whether a registered player or referee has left its endpoint (PROTOCOL.md, section 3). It sends an empty announcement that is
 * signed for the agent. The agent has left if the connection is refused, if the receiver rejects the signature, or if the answer names another
 * player as its sender. Every other answer or fault may come from the registered agent: a player without a secret cannot check the signature, and a
 * running program may reset a connection or let it time out. A player of another dialect checks no signature, so it has left only if the connection is refused.
 */
export const hasLeft =
  (peers: Pick<Peers, "message" | "get">, clock: Clock, ids: Ids, leagueId: string) =>
  async (agent: Pick<Agent, "id" | "kind" | "name" | "endpoint" | "tokenHash" | "dialect">): Promise<boolean> => {
    if (agent.dialect !== NATIVE) {
      const reply = await peers.get(agent.endpoint, TIMEOUT_MS);
      return !reply.ok && reply.error.isNothingListening === true;
    }
    const authToken = signFor(agent.tokenHash, leagueId);
    const emptyPayload = { league_id: leagueId, round_id: 0, matches: [] };
    const envelope = newEnvelope("ROUND_ANNOUNCEMENT", MANAGER_SENDER, emptyPayload, {
      messageId: ids.uuid(),
      authToken,
      at: clock.iso(),
    });
    const reply = await peers.message(agent.endpoint, envelope, { timeoutMs: TIMEOUT_MS }).catch(() => null);
    if (reply === null) return false; // the message could not be sent, e.g. because of a shortage of files or memory
    if (!reply.ok) return reply.error.isNothingListening === true;
    const { payload, sender } = reply.value;
    if (payload.error_code === "L004") return !hasNoSecret(payload);
    // A referee checks every signature. A player of this project that does not know its id yet has the id "new".
    const expectedSenders = [`player:${agent.id}`, `player:${agent.name}`, "player:new"];
    return agent.kind === "player" && sender.startsWith("player:") && !expectedSenders.includes(sender);
  };

/** A player without a secret rejects every message from another machine with L004 and `has_secret: false`. */
const hasNoSecret = ({ context }: Readonly<Record<string, unknown>>): boolean =>
  typeof context === "object" && context !== null && "has_secret" in context && context.has_secret === false;
