import type { LeagueEvent } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { type League, roundOf } from "../league/league.ts";
import type { CommittedEvent } from "../ledger.ts";
import type { Projections, StateChange } from "./projections.ts";

type Leagues = Pick<Projections, "league" | "leagues">;

/** The URIs of the resources that a committed event has changed. `change` is the change of an agent's state by the event. */
export function changedBy(committed: CommittedEvent, change: StateChange | null, leagues: Leagues): readonly string[] {
  if (committed.kind === "league") {
    const league = leagues.league(committed.leagueId);
    return league ? changedByLeague(league, committed.event) : [];
  }
  const { agentId, event } = committed;
  const isErased = event.type === "erased";
  if (!change && !isErased && event.type !== "forgotten") return [];
  const entered = leagues.leagues().filter(({ entrants }) => entrants.has(agentId));
  if (entered.length === 0) return [];
  return ["league://standings", ...entered.map(standingsUri), ...(isErased ? entered.map(ratingsUri) : [])];
}

function changedByLeague(league: League, event: LeagueEvent): readonly string[] {
  switch (event.type) {
    case "player_entered":
    case "player_left":
      return ["league://standings", standingsUri(league), ratingsUri(league)];
    case "round_opened": {
      const hasByes = (roundOf(league, event.round_id)?.byes.length ?? 0) > 0;
      return hasByes ? ["league://standings", standingsUri(league)] : [];
    }
    // The matches of the round are omitted, because there can be hundreds of thousands. Each changes again when it is assigned.
    case "round_paired":
      return scheduleUris(league, event.round_id);
    case "match_scheduled":
    case "match_assigned":
    case "match_released":
    case "match_aborted":
    case "match_cancelled":
      return matchAndSchedule(league, event.match_id);
    case "match_annulled":
    case "match_completed":
      return [
        ...matchAndSchedule(league, event.match_id),
        ...["league://standings", standingsUri(league), ratingsUri(league)],
      ];
    default:
      return [];
  }
}

const standingsUri = ({ leagueId }: League): string => `league://${leagueId}/standings`;

const ratingsUri = ({ leagueId }: League): string => `league://${leagueId}/ratings`;

const scheduleUris = ({ leagueId }: League, roundId: number): readonly string[] => [
  "league://schedule",
  `league://${leagueId}/schedule`,
  `league://${leagueId}/schedule/${roundId}`,
];

function matchAndSchedule(league: League, matchId: string): readonly string[] {
  const roundId = matchOf(league, matchId)?.roundId;
  return roundId === undefined ? [] : [`match://${league.leagueId}/${matchId}`, ...scheduleUris(league, roundId)];
}
