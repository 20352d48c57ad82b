import { isToken } from "#shared/lib/ids.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";

/** A message that a player rejects because it is not signed for it. */
export interface Rejected {
  readonly league_id: string;
  readonly match_id?: string;
  readonly round_id?: number;
  readonly your_role?: string;
  readonly roles?: Readonly<Record<string, string>>;
}

/** The facts of a registered player. */
export interface Registered {
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
