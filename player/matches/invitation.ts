import type { GameInvite } from "#shared/protocol/messages.ts";

/** The fields that distinguish two invitations to one match. */
export type Invitation = Pick<GameInvite, "epoch" | "seed_commitment" | "run_id">;

type Verdict = "begin" | "repeat" | "old_epoch";

/**
 * Decides on an invitation. `accepted` are the invitations to a match of this name that the player has accepted, oldest first. A later
 * epoch may have another seed. The match of this name in another run has another seed, and its epochs begin at 1 again. Messages may
 * overtake each other, so an older epoch may arrive that the player has not accepted.
 */
export function judgeInvitation(invite: Invitation, accepted: readonly Invitation[]): Verdict {
  const current = accepted.at(-1);
  if (!current) return "begin";
  if (isSame(invite, current)) return "repeat";
  const isOlder = isSameRun(invite, current) && invite.epoch < current.epoch;
  return isOlder || accepted.some((earlier) => isSame(invite, earlier)) ? "old_epoch" : "begin";
}

/** Earlier epochs of one match that are remembered. */
const MAX_EARLIER = 10;

/** The invitations to remember with a match that begins; a match of another run inherits none. */
export function acceptedWith(invite: Invitation, accepted: readonly Invitation[]): readonly Invitation[] {
  const current = accepted.at(-1);
  const { epoch, seed_commitment, run_id } = invite;
  return [
    ...(current && epoch > current.epoch ? accepted.slice(-MAX_EARLIER) : []),
    { epoch, seed_commitment, run_id },
  ];
}

/** Whether two invitations are known to be of one run: some referees do not name the run. */
const isSameRun = (a: Invitation, b: Invitation): boolean =>
  a.seed_commitment === b.seed_commitment || (a.run_id != null && a.run_id === b.run_id);

const isSame = (a: Invitation, b: Invitation): boolean =>
  a.epoch === b.epoch && a.seed_commitment === b.seed_commitment;
