import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/methods.ts";
import type { LeagueEvent } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { type League, type Match, roundOf } from "../league/league.ts";
import { publicReason, summaryOf } from "../league/outcome.ts";
import type { CommittedEvent } from "../ledger.ts";
import type { Projections, StateChange, Views } from "../projections/projections.ts";
import {
  ROUND_TEMPLATE,
  roundNumber,
  scheduleOf,
  scheduleOfAll,
  scheduleOfRound,
  scheduleRow,
} from "../projections/schedule.ts";

/** The JSON value `{"standings": [...]}` of some leagues. */
export const standingsShown = ({ projections }: Pick<Views, "projections">, leagues: readonly League[]): object => ({
  standings: leagues.flatMap((league) =>
    projections.standings(league).map((row) => ({
      league_id: league.leagueId,
      ...row,
      state: projections.agent(row.player_id)?.state ?? null,
    })),
  ),
});

/** The JSON value of the ratings of a league. */
export const ratingsShown = async (
  { projections }: Pick<Views, "projections">,
  league: League,
): Promise<Readonly<Record<string, unknown>>> => ({
  league_id: league.leagueId,
  ...(await projections.ratings(league)),
});

const STATE_TEXT =
  "The state of a player is SHUTDOWN when all its leagues are over, which is no fault, and when it was removed or did not answer in three matches in a row.";

/** The resources of the league manager: standings and schedule of all leagues. */
export function managerResources(views: Views): readonly Resource[] {
  const all = views.projections.leagues;
  return [
    {
      uri: "league://standings",
      name: "League Standings",
      description: `Current standings of all leagues. ${STATE_TEXT}`,
      read: () => standingsShown(views, all()),
    },
    {
      uri: "league://schedule",
      name: "League Schedule",
      description: `Every match of all leagues with its status and result. A very long schedule is limited to the rounds around the current one; ${ROUND_TEMPLATE} has the other rounds.`,
      read: () => scheduleOfAll(all()),
    },
  ];
}

/** The resource templates: standings, ratings and schedule of one league, one round of a schedule, and one match, with log and seed when it is completed. */
export function managerTemplates(views: Views): readonly ResourceTemplate[] {
  const leagueOf = (leagueId: string | undefined): League | null => views.projections.league(leagueId ?? "");
  const canExist = ({ league_id }: Readonly<Record<string, string>>): boolean => leagueOf(league_id) !== null;
  return [
    {
      uriTemplate: "league://{league_id}/standings",
      name: "Standings of one league",
      description: `Current standings of one league. ${STATE_TEXT}`,
      read({ league_id }) {
        const league = leagueOf(league_id);
        return league && standingsShown(views, [league]);
      },
      canExist,
    },
    {
      uriTemplate: "league://{league_id}/ratings",
      name: "Ratings of one league",
      description: "Ratings of the players of one league with 95% intervals, and which differences are significant",
      read({ league_id }) {
        const league = leagueOf(league_id);
        return league && ratingsShown(views, league);
      },
      canExist,
    },
    {
      uriTemplate: "league://{league_id}/schedule",
      name: "Schedule of one league",
      description:
        "Every match of one league with its status and result. A very long schedule is limited to the rounds around the current one.",
      read({ league_id }) {
        const league = leagueOf(league_id);
        return league && scheduleOf(league);
      },
      canExist,
    },
    {
      uriTemplate: ROUND_TEMPLATE,
      name: "One round of a schedule",
      description: "Every match of one round of a league with its status and result",
      read({ league_id, round_id }) {
        const league = leagueOf(league_id);
        return league && scheduleOfRound(league, roundNumber(round_id));
      },
      canExist({ league_id, round_id }) {
        const league = leagueOf(league_id);
        const roundId = roundNumber(round_id);
        return league !== null && (league.status === "open" ? roundId > 0 : roundOf(league, roundId) !== undefined);
      },
    },
    {
      uriTemplate: "match://{league_id}/{match_id}",
      name: "One match",
      description:
        "A match with its result. A completed match has its seed and its log, whose replay gives that result.",
      canExist,
      read({ league_id, match_id = "" }) {
        const league = leagueOf(league_id);
        const match = league && matchOf(league, match_id);
        return match ? oneMatch(views, league, match) : null;
      },
    },
  ];
}

async function oneMatch({ logOf, seedOf }: Views, league: League, match: Match): Promise<object> {
  const { leagueId: league_id } = league;
  const { matchId: match_id, roundId: round_id, epoch } = match;
  const row = scheduleRow(league, match);
  if (match.outcome === null) return { ...row, result: null, seed: null, log: null };
  const result = { league_id, round_id, match_id, epoch, ...summaryOf(match), reason: publicReason(match.outcome) };
  return { ...row, result, seed: seedOf(league_id, match_id, epoch), log: await logOf(league_id, match_id) };
}

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
        "league://standings",
        standingsUri(league),
        ratingsUri(league),
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
