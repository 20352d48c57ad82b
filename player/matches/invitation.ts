import type { GameInvite } from "#shared/protocol/messages.ts";

/** The fields that distinguish two invitations to one match. */
export type Invitation = Pick<GameInvite, "epoch" | "seed_commitment" | "run_id">;

type Verdict = "begin" | "repeat" | "old_epoch";

/**
 * Decides on an invitation. `accepted` lists the invitations to matches of the same name that the player has accepted, oldest first.
 * A later epoch may have another seed. In another run the match of this name has another seed and its epochs start at 1. Messages may
 * arrive out of order, so an invitation of an older epoch may arrive for the first time.
 */
export function judgeInvitation(invite: Invitation, accepted: readonly Invitation[]): Verdict {
  const current = accepted.at(-1);
  if (!current) return "begin";
  if (isSame(invite, current)) return "repeat";
  return isOlder(invite, current) || accepted.some((earlier) => isSame(invite, earlier)) ? "old_epoch" : "begin";
}

/** Whether an invitation is of an earlier epoch of the same run than another invitation to a match of this name. */
export const isOlder = (invite: Invitation, other: Invitation): boolean =>
  isSameRun(invite, other) && invite.epoch < other.epoch;

/** The number of earlier epochs of a match that are remembered. */
const MAX_EARLIER = 10;

/** The accepted invitations to remember after `invite` was accepted. Those of an earlier run are dropped. */
export function acceptedWith(invite: Invitation, accepted: readonly Invitation[]): readonly Invitation[] {
  const current = accepted.at(-1);
  const { epoch, seed_commitment, run_id } = invite;
  return [
    ...(current && epoch > current.epoch ? accepted.slice(-MAX_EARLIER) : []),
    { epoch, seed_commitment, run_id },
  ];
}

/** Whether two invitations are known to be of the same run. Some referees do not send `run_id`. */
const isSameRun = (a: Invitation, b: Invitation): boolean =>
  a.seed_commitment === b.seed_commitment || (a.run_id != null && a.run_id === b.run_id);

const isSame = (a: Invitation, b: Invitation): boolean =>
  a.epoch === b.epoch && a.seed_commitment === b.seed_commitment;
