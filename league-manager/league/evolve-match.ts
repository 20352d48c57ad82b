import { isDeepStrictEqual } from "node:util";
import { follows } from "#shared/lib/result.ts";
import type { EventOf } from "./events.ts";
import { type League, type Match, type Outcome, type Round, roundOf, type Withdrawal } from "./league.ts";
import { positionOf } from "./match-ids.ts";
import { withOccupied } from "./occupied.ts";
import {
  ANNULLED,
  abortedOutcome,
  CANCELLED,
  EXPIRED,
  outcomeOfResult,
  REMOVED,
  SHUT_DOWN,
  summaryOf,
} from "./outcome.ts";

type MatchEvent = EventOf<
  "match_assigned" | "match_released" | "match_completed" | "match_aborted" | "match_cancelled" | "match_annulled"
>;

/** Returns the fields of the league that an event of a match changes. Throws if the event cannot follow. */
export function changedMatch(league: League, before: Match, event: MatchEvent): Partial<League> {
  follows(
    before.epoch === event.epoch,
    `${event.type} of ${event.match_id} under epoch ${event.epoch}, not ${before.epoch}`,
  );
  const match = nextMatch(league, before, event);
  const isCompleted = match.status === "completed" && before.status !== "completed";
  const index = match.roundId - 1;
  const round = league.rounds.at(index) as Round;
  const position = positionOf(before.matchId)?.index as number;
  const open = round.open - (isCompleted ? 1 : 0);
  const rounds = league.rounds.with(index, { ...round, matches: round.matches.with(position, match), open });
  const withdrawals = withdrawalsAfter(league, before, event);
  const taken = occupies(match) - occupies(before) + withdrawals.length - league.withdrawals.length;
  return {
    rounds,
    withdrawals,
    occupied: withOccupied(league, occupies(match) > 0 ? match.refereeId : before.refereeId, taken),
    ...(event.type === "match_annulled" && { annulledCount: league.annulledCount + 1 }),
    ...(isCompleted && {
      completedCount: league.completedCount + 1,
      currentRound: firstOpenRound(rounds, league.currentRound),
      ...(open === 0 && { openRounds: league.openRounds.filter((roundId) => roundId !== match.roundId) }),
    }),
  };
}

const occupies = ({ status }: Match): number => (status === "assigned" ? 1 : 0);

/** The match after an event. Only this function sets the fields that depend on the status. */
function nextMatch(league: League, match: Match, event: MatchEvent): Match {
  const { matchId, refereeId } = match;
  if (event.type === "match_assigned") {
    const isOpened = roundOf(league, match.roundId)?.isOpened === true;
    follows(match.status === "scheduled" && isOpened && !league.isPaused, `${matchId} cannot be assigned now`);
    return { ...match, status: "assigned", refereeId: event.referee_id, assignedAt: event.at };
  }
  if (event.type === "match_completed" && event.referee_id === null) {
    const isOpened = roundOf(league, match.roundId)?.isOpened === true;
    follows(match.status === "scheduled" && isOpened, `${matchId} cannot be forfeited now`);
    const isAbsence = event.reason === SHUT_DOWN || event.reason === REMOVED;
    follows(
      event.termination === "forfeit" && isAbsence && event.log_head === "",
      `${matchId} has a result without a referee`,
    );
    return completed(match, outcomeOfResult(match.players, event), event.log_head);
  }
  if (event.type === "match_cancelled") {
    const isExpired = roundOf(league, match.roundId)?.isExpired === true;
    follows(
      match.status !== "completed" && (league.isPairingComplete || isExpired),
      `${matchId} cannot be cancelled now`,
    );
    return completed({ ...match, refereeId: null }, abortedOutcome(isExpired ? EXPIRED : CANCELLED), "");
  }
  if (event.type === "match_annulled") {
    follows(
      isDeepStrictEqual(event.match_points, match.outcome ? summaryOf(match).match_points : undefined),
      `${matchId} is annulled with other points`,
    );
    return completed({ ...match, refereeId: null }, abortedOutcome(ANNULLED), "");
  }
  follows(match.status === "assigned", `${matchId} is not assigned`);
  const isFromReferee = event.referee_id === refereeId || (event.type === "match_aborted" && event.referee_id === null);
  follows(isFromReferee, `${matchId} is not assigned to ${event.referee_id}`);
  switch (event.type) {
    case "match_released": {
      const aborts = match.aborts + (event.reason === "aborted" || event.reason === "overdue" ? 1 : 0);
      const lastRelease = { reason: event.reason, refereeId: event.referee_id };
      const epoch = match.epoch + 1;
      return { ...match, status: "scheduled", epoch, refereeId: null, assignedAt: null, aborts, lastRelease };
    }
    case "match_completed":
      follows(event.termination !== "aborted", `${matchId} is completed as aborted`);
      return completed(match, outcomeOfResult(match.players, event), event.log_head);
    case "match_aborted": {
      const aborted = { ...match, refereeId: event.referee_id, aborts: match.aborts + 1 };
      return completed(aborted, abortedOutcome(event.reason), event.log_head);
    }
  }
}

const completed = (match: Match, outcome: Outcome, logHead: string): Match => ({
  ...match,
  status: "completed",
  assignedAt: null,
  outcome,
  logHead,
});

/** Adds a withdrawal if a referee loses a match without having reported it, because it may still play it. */
function withdrawalsAfter(
  league: League,
  { matchId, epoch, refereeId, status }: Match,
  event: MatchEvent,
): readonly Withdrawal[] {
  const isWithdrawn =
    event.type === "match_released"
      ? event.reason !== "aborted"
      : event.type === "match_cancelled" ||
        event.type === "match_annulled" ||
        (event.type === "match_aborted" && event.referee_id === null);
  return isWithdrawn && refereeId !== null && status !== "completed"
    ? [...league.withdrawals, { matchId, epoch, refereeId }]
    : league.withdrawals;
}

/** The number of the first round from round `first` on that has a match that is not completed; null if there is none. */
function firstOpenRound(rounds: League["rounds"], first: number | null): number | null {
  for (let roundId = first ?? 1; roundId <= rounds.length; roundId++) {
    if ((roundOf({ rounds }, roundId) as Round).open > 0) return roundId;
  }
  return null;
}
