import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Caller } from "#shared/rpc/http/request.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Member } from "../shared-run/run-database.ts";
import type { CallerSignature } from "./caller-signature.ts";
import type { OtherHome } from "./homes.ts";

interface OtherHomesOptions {
  readonly peers: Peers;
  readonly signature: CallerSignature;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The sender of a request that a manager sends to another one for a player. */
const SENDER = "league_manager:LM01";
/** The caller in a question of this manager itself. It has no address, and so no rights. */
const THIS_MANAGER: Caller = { remoteAddress: "", origin: "" };
/** The state of a player contains the positions and the legal moves of its open matches. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Returns a function that creates the client for another manager that is the home of a player. */
export function otherHomes({ peers, signature, clock, ids }: OtherHomesOptions) {
  return ({ managerId, url }: Member, playerId: string): OtherHome => {
    const headersFor = (caller: Caller, target: string) =>
      signature.headersFor(caller, { managerId, method: "POST", target });
    return {
      inboxEndpoint: `${url}/inbox/${playerId}/mcp`,
      async isAttended(timeoutMs, signal) {
        const target = `/inbox/${playerId}/attended`;
        const options = { timeoutMs, headers: headersFor(THIS_MANAGER, target) };
        const reply = await peers.post(`${url}${target}`, "", signal ? { ...options, signal } : options);
        return reply.ok && reply.value.status === 200;
      },
      async ask(type, payload, { remoteAddress, origin = "" }, { timeoutMs, signal }) {
        const envelope = newEnvelope(type, SENDER, payload, { messageId: ids.uuid(), at: clock.iso() });
        const reply = await peers.message(`${url}/mcp`, envelope, {
          ...{ timeoutMs, maxReplyBytes: MAX_REPLY_BYTES, headers: headersFor({ remoteAddress, origin }, "/mcp") },
          ...(signal && { signal }),
        });
        if (!reply.ok) return null;
        const { type: kind, payload: answer } = reply.value;
        return /_ERROR$/.test(kind) ? err(answer as unknown as ProtocolError) : ok(answer);
      },
    };
  };
}
