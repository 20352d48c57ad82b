import type { League } from "../league/league.ts";
import { type TeamStanding, teamStandingsOf } from "../league/standings-of.ts";
import type { ManagerState } from "../ledger.ts";

type Agents = ManagerState["agents"];

/** Returns a function that gives the standings of the teams of a league. They are computed again after a change of the league or of a name. */
export function teamStandingsCache(ledger: { readonly state: ManagerState }, nameOf: (playerId: string) => string) {
  const cache = new WeakMap<League, { readonly agents: Agents; readonly rows: readonly TeamStanding[] | null }>();
  return (league: League): readonly TeamStanding[] | null => {
    const { agents } = ledger.state;
    const cached = cache.get(league);
    if (cached?.agents === agents) return cached.rows;
    const rows = teamStandingsOf(league, nameOf);
    cache.set(league, { agents, rows });
    return rows;
  };
}
