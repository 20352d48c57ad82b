import { isLoopback } from "#shared/protocol/addresses.ts";
import { signatureCheck } from "#shared/protocol/signing.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";

/**
 * Decides which messages a player accepts (PROTOCOL.md, section 3). A message about a match must also carry the token of its
 * invitation (matches/player.ts).
 */
export interface Trust {
  /** Whether a token is a signature for this player about `subject`, which is `league_id/match_id` or `league_id`. */
  isSigned(subject: string, token: string): boolean;
  /** Whether programs on this machine need no signature. */
  readonly acceptsUnsignedLocally: boolean;
}

/** A player that is about to register and has no token yet accepts no message. */
export const acceptNothing: Trust = { isSigned: () => false, acceptsUnsignedLocally: false };

/** A player without a secret cannot check signatures. It accepts messages from programs on its own machine. */
export const acceptThisMachine: Trust = { isSigned: () => false, acceptsUnsignedLocally: true };

/** A player with a token, or with a secret that is also in the league's config, accepts messages that are signed with it. */
export const acceptSigned = (token: string): Trust => ({
  isSigned: signatureCheck(token),
  acceptsUnsignedLocally: false,
});

/** Whether a player accepts a message about `subject` from this caller. */
export const accepts = (trust: Trust, subject: string, caller: Pick<Caller, "authToken" | "remoteAddress">): boolean =>
  trust.isSigned(subject, caller.authToken ?? "") || (trust.acceptsUnsignedLocally && isLoopback(caller.remoteAddress));
