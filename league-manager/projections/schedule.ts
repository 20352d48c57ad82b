import type { League, Match, Round } from "../league/league.ts";
import { publicReason, rolesOf, summaryOf } from "../league/outcome.ts";

/** A schedule of more matches is shown in part: the rounds around the current one. */
export const WHOLE_SCHEDULE_MATCHES = 1_000;

/** Where the other rounds of a truncated schedule can be read. */
export const ROUND_TEMPLATE = "league://{league_id}/schedule/{round_id}";

/** A schedule as `get_schedule` and the schedule resources show it. The fields besides `schedule` are absent when it is whole. */
export interface Schedule {
  readonly schedule: readonly ScheduleRow[];
  readonly truncated?: true;
  /** Matches of the whole schedule. */
  readonly total?: number;
  readonly completed?: number;
  /** Rounds of the whole schedule. */
  readonly rounds?: number;
  readonly current_round?: number | null;
  /** The template of the resources that show one round each. */
  readonly rest?: string;
}

interface ScheduleRow {
  readonly league_id: string;
  readonly round_id: number;
  readonly match_id: string;
  readonly roles: Readonly<Record<string, string>>;
  readonly status: Match["status"];
  readonly referee_id: string | null;
  readonly winner: string | null;
  readonly points: Readonly<Record<string, number>> | null;
  readonly termination: string | null;
  readonly reason: string | null;
}

export function scheduleRow(league: League, match: Match): ScheduleRow {
  const summary = match.outcome && summaryOf(match);
  return {
    league_id: league.leagueId,
    round_id: match.roundId,
    match_id: match.matchId,
    roles: rolesOf(league, match),
    status: match.status,
    referee_id: match.refereeId,
    winner: summary?.winner ?? null,
    points: summary?.match_points ?? null,
    termination: summary?.termination ?? null,
    reason: match.outcome && publicReason(match.outcome),
  };
}

const rowsOf = (league: League, rounds: readonly Round[]): readonly ScheduleRow[] =>
  rounds.flatMap(({ matches }) => matches.map((match) => scheduleRow(league, match)));

/** The rounds that are shown when no round is named: all of a short schedule, else the current round and its neighbours. */
export function roundsShown(league: League, matchLimit = WHOLE_SCHEDULE_MATCHES): readonly Round[] {
  if (league.matchCount <= matchLimit) return league.rounds;
  const current = league.currentRound ?? league.rounds.length;
  return league.rounds.slice(Math.max(0, current - 2), current + 1);
}

/** One round of a league, or null when there is none of that number. */
export const roundOf = (league: League, roundId: number): Round | null => league.rounds[roundId - 1] ?? null;

/** The number of a round in a URI or query, which has one spelling; 0, which no round has, for any other text. */
export const roundNumber = (text: unknown): number =>
  typeof text === "string" && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;

export function scheduleOf(league: League): Schedule {
  const schedule = rowsOf(league, roundsShown(league));
  if (schedule.length === league.matchCount) return { schedule };
  return {
    schedule,
    truncated: true,
    total: league.matchCount,
    completed: league.completedCount,
    rounds: league.rounds.length,
    current_round: league.currentRound,
    rest: ROUND_TEMPLATE,
  };
}

/** One round, whole. Null when there is none of that number. */
export function scheduleOfRound(league: League, roundId: number): Schedule | null {
  const round = roundOf(league, roundId);
  return round && { schedule: rowsOf(league, [round]) };
}

/** The schedules of several leagues in one list, each in part when they are too long together. */
export function scheduleOfAll(leagues: readonly League[]): Schedule {
  const total = leagues.reduce((sum, league) => sum + league.matchCount, 0);
  const limit = total <= WHOLE_SCHEDULE_MATCHES ? WHOLE_SCHEDULE_MATCHES : 0;
  const schedule = leagues.flatMap((league) => rowsOf(league, roundsShown(league, limit)));
  if (schedule.length === total) return { schedule };
  const completed = leagues.reduce((sum, league) => sum + league.completedCount, 0);
  return { schedule, truncated: true, total, completed, rest: ROUND_TEMPLATE };
}
