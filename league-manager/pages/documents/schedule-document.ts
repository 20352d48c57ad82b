import type { RoundRef, ScheduleDocument, ScheduleRound } from "#shared/web/league-documents.ts";
import { opensAtOnce } from "../../league/format-view.ts";
import { endOfRound, type League, type Match, type Round, roundOf } from "../../league/league.ts";
import { roundNumber } from "../../projections/schedule.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  headerOf,
  matchRow,
  pageOf,
  playerRef,
} from "./document.ts";

/** The maximum number of rounds in the list of rounds. */
const MAX_LISTED = 200;

export const schedule = {
  page: "schedule",
  path: "schedule",
  title: ({ league, round }: ScheduleDocument) =>
    `${round ? round.label || `Round ${round.round_id}` : "Schedule"} – ${league.league_id}`,
  read: scheduleDocument,
} satisfies DocumentKind;

/** Returns a page of the matches of a round: the requested one, or the round that is played. Returns null if there is no such round. */
function scheduleDocument(context: DocumentContext, { league, query }: DocumentRequest): ScheduleDocument | null {
  const { projections } = context.views;
  const requested = query.get("round");
  const has_all = opensAtOnce(league);
  const current_round = league.currentRound ?? league.rounds.length;
  const number = requested === null ? current_round : roundNumber(requested);
  const round = has_all && requested === null ? null : (roundOf(league, number) ?? null);
  if (requested !== null && round === null) return null;
  const shown = round === null ? (has_all ? allMatches(league) : []) : round.matches;
  const { rows, ...page } = pageOf(shown, query);
  return {
    league: headerOf(context, league),
    ...page,
    round: round && scheduleRound(context, league, round, query),
    rounds: roundsNear(league, round?.roundId ?? current_round).map(roundRef),
    last_round: league.rounds.length,
    current_round,
    has_all,
    matches: rows.map((match) => matchRow(projections, league, match)),
  };
}

/** The matches of all opened rounds, the newest first. */
const allMatches = ({ rounds }: League): readonly Match[] =>
  rounds.flatMap(({ isOpened, matches }) => (isOpened ? matches : [])).toReversed();

/** Returns the rounds nearest to one, at most MAX_LISTED. */
function roundsNear({ rounds }: League, roundId: number): readonly Round[] {
  const first = Math.max(0, Math.min(roundId - MAX_LISTED / 2, rounds.length - MAX_LISTED));
  return rounds.slice(first, first + MAX_LISTED);
}

const roundRef = ({ roundId, label, open, isOpened }: Round): RoundRef => ({
  round_id: roundId,
  label: label ?? "",
  state: open === 0 ? "completed" : isOpened ? "playing" : "waiting",
});

function scheduleRound(
  { views: { projections } }: DocumentContext,
  league: League,
  round: Round,
  query: URLSearchParams,
): ScheduleRound {
  const { matches, byes, open, openedAt } = round;
  const end = endOfRound(league, round.roundId);
  const paired = new Set([...byes, ...matches.flatMap(({ players }) => players)]);
  const absent = league.departed.filter((playerId) => !paired.has(playerId));
  const { rows, ...unpaired } = pageOf([...byes, ...absent], query, "unpaired");
  const withBye = new Set(byes);
  const refs = (isBye: boolean) =>
    rows.filter((playerId) => withBye.has(playerId) === isBye).map((playerId) => playerRef(projections, playerId));
  return {
    ...roundRef(round),
    opened_at: openedAt,
    ends_at: end === null ? null : new Date(end).toISOString(),
    completed: matches.length - open,
    byes: refs(true),
    absent: refs(false),
    unpaired,
  };
}
