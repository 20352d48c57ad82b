import type { List } from "#shared/lib/list.ts";
import { type League, type Match, type Round, roundOf } from "../league/league.ts";
import { publicReason, restartReason, rolesOf, summaryOf } from "../league/outcome.ts";

/** A schedule of more matches is truncated to the rounds around the current one. */
export const MAX_SCHEDULE_MATCHES = 1_000;

/** The URI template of the resources that have the other rounds of a truncated schedule. */
export const ROUND_TEMPLATE = "league://{league_id}/schedule/{round_id}";

/** A schedule as `get_schedule` and the schedule resources return it. A complete schedule has only the fields `schedule` and `byes`. */
interface Schedule {
  readonly schedule: readonly ScheduleRow[];
  readonly truncated?: true;
  /** The number of matches of the complete schedule. */
  readonly total?: number;
  readonly completed?: number;
  /** The number of rounds of the complete schedule. */
  readonly rounds?: number;
  readonly current_round?: number | null;
  /** `ROUND_TEMPLATE`. */
  readonly rest?: string;
  /** The byes of the listed rounds; absent if there are none. */
  readonly byes?: readonly RoundByes[];
}

/** The players without a match in a round. */
interface RoundByes {
  readonly league_id: string;
  readonly round_id: number;
  readonly players: readonly string[];
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
  /** The name of the round for people, if it has one. */
  readonly label?: string;
  /** The number of the current attempt at the match, and why it began; absent in the first one. */
  readonly restart?: { readonly attempt: number; readonly reason: string };
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
    ...labelOf(roundOf(league, match.roundId)),
    ...restartOf(match),
  };
}

const labelOf = (round: Round | undefined): { readonly label?: string } =>
  round?.label == null ? {} : { label: round.label };

function restartOf(match: Match): Pick<ScheduleRow, "restart"> {
  const reason = restartReason(match);
  return reason === null ? {} : { restart: { attempt: match.epoch, reason } };
}

/** The byes of rounds, as a field of a schedule. */
function byesOf(leagues: readonly (readonly [League, List<Round>])[]): Pick<Schedule, "byes"> {
  const byes = leagues.flatMap(([{ leagueId: league_id }, rounds]) =>
    rounds.flatMap(({ roundId: round_id, byes: players }) =>
      players.length > 0 ? [{ league_id, round_id, players }] : [],
    ),
  );
  return byes.length > 0 ? { byes } : {};
}

const rowsOf = (league: League, rounds: List<Round>): readonly ScheduleRow[] =>
  rounds.flatMap(({ matches }) => matches.map((match) => scheduleRow(league, match)));

/** The rounds that are shown without a requested round: all rounds of a short schedule, else the current and the adjacent rounds. */
function roundsShown(league: League, matchLimit = MAX_SCHEDULE_MATCHES): List<Round> {
  if (league.matchCount <= matchLimit) return league.rounds;
  const current = league.currentRound ?? league.rounds.length;
  return league.rounds.slice(Math.max(0, current - 2), current + 1);
}

/** Parses the number of a round in a URI or query. Returns 0, which is not the number of a round, for a text that is not in canonical form. */
export const roundNumber = (text: unknown): number =>
  typeof text === "string" && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;

/** The schedule of a league, truncated if it is too long. */
export function scheduleOf(league: League): Schedule {
  const rounds = roundsShown(league);
  const schedule = { schedule: rowsOf(league, rounds), ...byesOf([[league, rounds]]) };
  if (schedule.schedule.length === league.matchCount) return schedule;
  return {
    ...schedule,
    truncated: true,
    total: league.matchCount,
    completed: league.completedCount,
    rounds: league.rounds.length,
    current_round: league.currentRound,
    rest: ROUND_TEMPLATE,
  };
}

/** Returns the complete schedule of one round, or null if there is no round of that number. */
export function scheduleOfRound(league: League, roundId: number): Schedule | null {
  const round = roundOf(league, roundId);
  if (!round) return null;
  return { schedule: rowsOf(league, [round]), ...byesOf([[league, [round]]]) };
}

/** The schedule of several leagues in one list. Each league is truncated if all of them together have too many matches. */
export function scheduleOfAll(leagues: readonly League[]): Schedule {
  const total = leagues.reduce((sum, league) => sum + league.matchCount, 0);
  const limit = total <= MAX_SCHEDULE_MATCHES ? MAX_SCHEDULE_MATCHES : 0;
  const shown = leagues.map((league) => [league, roundsShown(league, limit)] as const);
  const schedule = shown.flatMap(([league, rounds]) => rowsOf(league, rounds));
  const byes = byesOf(shown);
  if (schedule.length === total) return { schedule, ...byes };
  const completed = leagues.reduce((sum, league) => sum + league.completedCount, 0);
  return { schedule, ...byes, truncated: true, total, completed, rest: ROUND_TEMPLATE };
}
