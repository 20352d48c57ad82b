import type { GameInvite } from "#shared/protocol/messages.ts";

/** The fields that distinguish two invitations to one match. */
export type Invitation = Pick<GameInvite, "epoch" | "seed_commitment">;

type Verdict = "begin" | "repeat" | "old_epoch";

/**
 * Decides on an invitation. `accepted` are the invitations to a match of this name that the player has accepted, oldest first. A later
 * epoch may have another seed. The match of this name in another run has another seed, and its epochs begin at 1 again.
 */
export function judgeInvitation(invite: Invitation, accepted: readonly Invitation[]): Verdict {
  const current = accepted.at(-1);
  if (!current) return "begin";
  if (isSame(invite, current)) return "repeat";
  const isOlder = invite.seed_commitment === current.seed_commitment && invite.epoch < current.epoch;
  return isOlder || accepted.some((earlier) => isSame(invite, earlier)) ? "old_epoch" : "begin";
}

/** Earlier epochs of one match that are remembered. */
const MAX_EARLIER = 10;

/** The invitations to remember with a match that begins; a match of another run inherits none. */
export function acceptedWith(invite: Invitation, accepted: readonly Invitation[]): readonly Invitation[] {
  const current = accepted.at(-1);
  const { epoch, seed_commitment } = invite;
  return [...(current && epoch > current.epoch ? accepted.slice(-MAX_EARLIER) : []), { epoch, seed_commitment }];
}

const isSame = (a: Invitation, b: Invitation): boolean =>
  a.epoch === b.epoch && a.seed_commitment === b.seed_commitment;
