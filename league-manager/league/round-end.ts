import type { League } from "./league.ts";

/**
 * The time at which a round ends, in milliseconds since 1970; null if it has no end now. A round has its whole time again after the league was resumed.
 */
export function endOf(
  {
    roundMs,
    isPaused,
    resumedAt,
    status,
    rounds,
  }: Pick<League, "roundMs" | "isPaused" | "resumedAt" | "status" | "rounds">,
  roundId: number,
): number | null {
  const round = rounds[roundId - 1];
  if (roundMs === null || !round?.openedAt || round.isExpired || isPaused || status !== "running") return null;
  return Math.max(Date.parse(round.openedAt), resumedAt === null ? 0 : Date.parse(resumedAt)) + roundMs;
}
