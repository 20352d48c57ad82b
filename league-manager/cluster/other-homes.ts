import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import type { Member } from "../shared-run/run-database.ts";
import type { CallerSignature } from "./caller-signature.ts";
import type { OtherHome } from "./homes.ts";

interface OtherHomesOptions {
  readonly peers: Peers;
  readonly signature: CallerSignature;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The sender of requests that a manager passes on for a player. */
const SENDER = "league_manager:LM01";
/** The state of a player contains the positions and the legal moves of its open matches. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Returns the functions of other managers for the players whose home they are. */
export function otherHomes({ peers, signature, clock, ids }: OtherHomesOptions) {
  return ({ url }: Member, playerId: string): OtherHome => {
    const inbox = `${url}/inbox/${playerId}`;
    return {
      inboxEndpoint: `${inbox}/mcp`,
      async isAttended(timeoutMs, signal) {
        const options = { timeoutMs, headers: signature.headersFor({ remoteAddress: LOOPBACK_HOST, origin: "" }) };
        const reply = await peers.post(`${inbox}/attended`, "", signal ? { ...options, signal } : options);
        return reply.ok && reply.value.status === 200;
      },
      async ask(type, payload, { remoteAddress, origin = "" }, { timeoutMs, signal }) {
        const envelope = newEnvelope(type, SENDER, payload, { messageId: ids.uuid(), at: clock.iso() });
        const reply = await peers.message(`${url}/mcp`, envelope, {
          ...{ timeoutMs, maxReplyBytes: MAX_REPLY_BYTES, headers: signature.headersFor({ remoteAddress, origin }) },
          ...(signal && { signal }),
        });
        if (!reply.ok) return null;
        const { type: kind, payload: answer } = reply.value;
        return /_ERROR$/.test(kind) ? err(answer as unknown as ProtocolError) : ok(answer);
      },
    };
  };
}
