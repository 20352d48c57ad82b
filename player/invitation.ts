import type { GameInvite } from "#shared/protocol/messages.ts";

/** What tells two invitations to one match apart. */
export type Invitation = Pick<GameInvite, "epoch" | "seed_commitment">;

export type Verdict = "begin" | "repeat" | "old_epoch";

/**
 * What an invitation means for a player that may have accepted others to a match of this name before, in this order. A match that is played
 * again may have another seed, and so has the match of that name in another run, whose epochs begin at 1 again.
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
