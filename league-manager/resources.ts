import type { Resource, ResourceTemplate } from "#shared/rpc/mcp.ts";
import type { LeagueEvent } from "./events.ts";
import type { League, Match } from "./league.ts";
import type { Manager } from "./manager.ts";

/** `{"standings": [...]}` of one league. */
export function standingsShown(manager: Manager, leagueId: string): object {
  const league = manager.leagues.get(leagueId);
  return { standings: league ? standingsRows(manager, league) : [] };
}

/** `{"schedule": [...]}` of one league. */
export function scheduleShown(manager: Manager, leagueId: string): object {
  const league = manager.leagues.get(leagueId);
  return { schedule: league ? [...league.matches.values()].map(matchShown) : [] };
}

const standingsRows = (manager: Manager, league: League) =>
  manager.standings(league).map((row) => ({
    league_id: league.config.league_id,
    ...row,
    state: manager.stateOf(row.player_id),
  }));

const matchShown = (match: Match) => ({
  league_id: match.leagueId,
  round_id: match.roundId,
  match_id: match.matchId,
  roles: match.roles,
  status: match.status,
  referee_id: match.refereeId,
  winner: match.result?.winner ?? null,
  points: match.result?.match_points ?? null,
  termination: match.result?.termination ?? null,
  reason: match.result?.reason ?? null,
});

/** The resources that an event has changed. */
export function changedBy(event: LeagueEvent): readonly string[] {
  const of = (what: "standings" | "schedule", leagueId: string) => [`league://${what}`, `league://${leagueId}/${what}`];
  switch (event.type) {
    case "league_started":
    case "round_started":
      return [...of("schedule", event.league_id), ...of("standings", event.league_id)];
    case "match_completed": {
      const { league_id, match } = event;
      return [...of("schedule", league_id), ...of("standings", league_id), `match://${league_id}/${match.match_id}`];
    }
    case "player_state":
      return [...new Set(event.league_ids.flatMap((league_id) => of("standings", league_id)))];
    case "league_completed":
      return of("standings", event.league_id);
    case "registered":
      return ["league://standings"];
    default:
      return [];
  }
}

/** The resources of the league manager: standings and schedule of all leagues. */
export function managerResources(manager: Manager): readonly Resource[] {
  const all = (): readonly League[] => [...manager.leagues.values()];
  return [
    {
      uri: "league://standings",
      name: "League Standings",
      description: "Current standings of all leagues",
      read: () => ({ standings: all().flatMap((league) => standingsRows(manager, league)) }),
    },
    {
      uri: "league://schedule",
      name: "League Schedule",
      description: "Every match of all leagues with its status and result",
      read: () => ({ schedule: all().flatMap((league) => [...league.matches.values()].map(matchShown)) }),
    },
  ];
}

/** The same for one league, and one match with its log and seed once it is over. */
export function managerTemplates(
  manager: Manager,
  logOf: (leagueId: string, matchId: string) => Promise<{ log: readonly string[]; seed: string } | null>,
): readonly ResourceTemplate[] {
  const known = (leagueId: string | undefined): leagueId is string =>
    leagueId !== undefined && manager.leagues.has(leagueId);
  return [
    {
      uriTemplate: "league://{league_id}/standings",
      name: "Standings of one league",
      description: "Current standings of one league",
      read: ({ league_id }) => (known(league_id) ? standingsShown(manager, league_id) : null),
      canExist: ({ league_id }) => known(league_id),
    },
    {
      uriTemplate: "league://{league_id}/schedule",
      name: "Schedule of one league",
      description: "Every match of one league with its status and result",
      read: ({ league_id }) => (known(league_id) ? scheduleShown(manager, league_id) : null),
      canExist: ({ league_id }) => known(league_id),
    },
    {
      uriTemplate: "match://{league_id}/{match_id}",
      name: "One match",
      description: "A match with its result; once it is over with its seed and its log, which replays to that result",
      canExist: ({ league_id }) => known(league_id),
      async read({ league_id = "", match_id = "" }) {
        const match = manager.leagues.get(league_id)?.matches.get(match_id);
        if (!match) return null;
        const kept = match.result && (await logOf(league_id, match_id));
        return { ...matchShown(match), result: match.result, seed: kept?.seed ?? null, log: kept?.log ?? null };
      },
    },
  ];
}
