import { isToken } from "#shared/lib/ids.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { signatureCheck } from "#shared/protocol/signing.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readOrCreateSecret } from "#shared/runtime/secret-file.ts";
import type { PlayerOptions } from "./options.ts";

/** The identity of a player in its league. Registration sets it. */
export interface Identity {
  /** "new" until the player is registered. */
  id: string;
  /** The display name in the league; the name of the bot until registration begins. */
  name: string;
  /** null until the player is registered. */
  registered: Registered | null;
  /** The token of the player, or the secret of a player that does not register itself. */
  token: string | null;
  trust: Trust;
}

export const newIdentity = (name: string): Identity => ({
  id: "new",
  name,
  registered: null,
  token: null,
  trust: acceptNothing,
});

export function setToken(identity: Identity, token: string): void {
  identity.token = token;
  identity.trust = acceptSigned(token);
}

/**
 * Sets the trust of a player that does not register itself: it verifies messages with its secret, or, without a secret, accepts programs
 * on its own machine only. Throws StartError if the file does not contain a secret.
 */
export function takeSecret(identity: Identity, { secretFile, host }: PlayerOptions, self: AgentProcess): void {
  if (secretFile === null) {
    identity.trust = acceptThisMachine;
    if (host !== null && !isLoopback(host))
      self.say("without --secret-file this player accepts matches from programs on this machine only");
    return;
  }
  const secret = readOrCreateSecret(self, secretFile);
  if (!isToken(secret)) {
    throw new StartError(
      `${secretFile}: a secret has 43 characters; delete the file to have a new one created`,
      EXIT.config,
    );
  }
  self.say(
    `the secret of this player is in ${secretFile}: enter it as "secret" of this player in the config of the league`,
  );
  setToken(identity, secret);
}

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

/** A message that a player rejects because it is not signed for it. */
export interface Rejected {
  readonly league_id: string;
  readonly match_id?: string;
  readonly round_id?: number;
  readonly your_role?: string;
  readonly roles?: Readonly<Record<string, string>>;
}

/** The facts of a registered player. */
interface Registered {
  readonly playerId: string;
  readonly leagueIds: readonly string[];
  readonly tokenFile: string;
}

/**
 * Creates a function that is called with each rejected message. It returns a line for the terminal, once, when a message shows that the
 * operator may have replaced the player's token, and otherwise null. Messages that are signed with another token are the only sign of this.
 * `self` returns null until the player is registered.
 */
export function tokenNotice(
  self: () => Registered | null,
): (message: Rejected, caller: Pick<Caller, "authToken">) => string | null {
  let isReported = false;
  return (message, { authToken }) => {
    const registered = self();
    if (isReported || registered === null || !isToken(authToken ?? "") || !isMeantFor(registered, message)) return null;
    isReported = true;
    return (
      `messages to ${registered.playerId} are no longer signed with its token and are rejected. If the operator has reset the token, ` +
      `write the new one into ${registered.tokenFile} and restart this player`
    );
  };
}

/**
 * Whether a message is meant for this player and not for one that used its endpoint before: an invitation that names it, or a message about a round of
 * its leagues, which the manager sends only to the endpoints of registered players. Messages with round_id 0 are for an earlier player of the
 * endpoint (PROTOCOL.md, section 3). Matches that have begun keep the token of their invitation.
 */
function isMeantFor({ playerId, leagueIds }: Registered, message: Rejected): boolean {
  const { league_id, match_id, round_id, your_role = "", roles = {} } = message;
  if (!leagueIds.includes(league_id) || round_id === undefined || round_id === 0) return false;
  return match_id === undefined || (Object.hasOwn(roles, your_role) && roles[your_role] === playerId);
}
