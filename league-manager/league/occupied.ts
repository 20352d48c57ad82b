import type { League } from "./league.ts";

/** The matches that occupy the referees of a league. It follows from the rounds and the withdrawals. */
export function occupiedBy({ rounds, withdrawals }: Pick<League, "rounds" | "withdrawals">): League["occupied"] {
  const occupied = new Map<string, number>();
  const add = (refereeId: string) => occupied.set(refereeId, (occupied.get(refereeId) ?? 0) + 1);
  for (const { matches } of rounds)
    for (const { status, refereeId } of matches) if (status === "assigned") add(refereeId as string);
  for (const { refereeId } of withdrawals) add(refereeId);
  return occupied;
}

/** The same with `change` more matches of one referee. */
export function withOccupied(
  { occupied }: Pick<League, "occupied">,
  refereeId: string | null,
  change: number,
): League["occupied"] {
  if (refereeId === null) return occupied;
  const count = (occupied.get(refereeId) ?? 0) + change;
  const after = new Map(occupied);
  if (count > 0) after.set(refereeId, count);
  else after.delete(refereeId);
  return after;
}
