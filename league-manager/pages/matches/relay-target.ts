import { matchOf } from "../../league/evolve.ts";
import type { Ledger } from "../../ledger.ts";

/** Where a match that is being played is shown. */
interface RelayTarget {
  /** Identifies the attempt and the referee; empty if the match is not being played. */
  readonly key: string;
  /** The address at which the referee shows the match; null if it is not being played. */
  readonly url: string | null;
}

/** Returns where the referee of a match shows it. */
export function targetOf(
  { leagues, agents }: Ledger["state"],
  { leagueId, matchId }: { readonly leagueId: string; readonly matchId: string },
): RelayTarget {
  const league = leagues.get(leagueId);
  const match = league && matchOf(league, matchId);
  const referee = match?.status === "assigned" && match.refereeId !== null ? agents.get(match.refereeId) : undefined;
  if (!match || !referee) return { key: "", url: null };
  const { endpoint } = referee;
  return {
    key: `${match.epoch} ${match.refereeId} ${endpoint}`,
    url: `${endpoint.replace(/\/mcp\/?$/, "")}/api/matches/${encodeURIComponent(leagueId)}/${encodeURIComponent(matchId)}/events`,
  };
}
