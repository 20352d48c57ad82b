import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { QUOTED_CHARACTERS } from "../events.ts";
import { matchOf } from "../evolve.ts";
import { formatOf } from "../format-view.ts";
import { type League, type Match, roundOf } from "../league.ts";
import { matchIdOf } from "../match-ids.ts";
import { type CommandOf, type Decided, PAUSED, rejectMatch, rejectState, UNCHANGED } from "./decision.ts";
import { MAX_ABORTS } from "./report.ts";

/** Adds a match to the current round, a later one or a new last round of a running league. */
export function decideSchedule(league: League, { players, roundId }: CommandOf<"schedule">): Decided {
  const { leagueId: league_id, roles, rounds, currentRound, status } = league;
  for (const player_id of players) {
    if (!league.entrants.has(player_id))
      return err(protocolError("L004", `${player_id} is not in league ${league_id}`, { player_id }));
  }
  if (players.length !== roles.length || new Set(players).size !== players.length) {
    const message = `a match of league ${league_id} is between ${roles.length} different players`;
    return err(protocolError("L004", message, { players: [...players] }));
  }
  if (status === "open") {
    const message = `league ${league_id} has not started; matches are added while it runs`;
    return err(protocolError("L005", message, {}, true));
  }
  if (!formatOf(league).allowsAddedMatches) {
    const message = `league ${league_id} is a league of the format ${league.format}, whose pairings an added match would change; matches can be added to a round robin`;
    return err(protocolError("L005", message, { league_id }));
  }
  if (currentRound === null) {
    return err(protocolError("L005", `all matches of league ${league_id} are completed; no match can be added`));
  }
  const next = rounds.length + 1;
  const context = { round_id: roundId, first_round: currentRound, last_round: next };
  const choices = `choose a round from ${currentRound} to ${next}`;
  if (roundId < currentRound) return err(protocolError("G005", `round ${roundId} is over; ${choices}`, context));
  if (roundId > next) return err(protocolError("G003", `there is no round ${roundId}; ${choices}`, context));
  const match_id = matchIdOf(roundId, roundOf({ rounds }, roundId)?.matches.length ?? 0);
  return ok([{ type: "match_scheduled", match_id, round_id: roundId, players }]);
}

export function decideAssign(league: League, { matchId, epoch, refereeId }: CommandOf<"assign">): Decided {
  const match = matchOf(league, matchId);
  if (!match) return rejectMatch(league, matchId);
  if (league.isPaused) return rejectState(league, PAUSED);
  const isOpened = roundOf(league, match.roundId)?.isOpened === true;
  if (match.status !== "scheduled" || match.epoch !== epoch || !isOpened) return rejectEpoch(league, match, epoch);
  return ok([{ type: "match_assigned", match_id: matchId, epoch, referee_id: refereeId }]);
}

/**
 * Takes a match from its referee. A match that is overdue is completed as aborted if it has had too many aborts. The detail may quote the referee.
 */
export function decideRelease(league: League, { matchId, epoch, reason, ...command }: CommandOf<"release">): Decided {
  const detail = command.detail.slice(0, QUOTED_CHARACTERS);
  const match = matchOf(league, matchId);
  if (!match) return rejectMatch(league, matchId);
  const { status, aborts } = match;
  if (status !== "assigned" || match.epoch !== epoch) return rejectEpoch(league, match, epoch);
  const common = { match_id: matchId, epoch };
  if (reason === "overdue" && aborts + 1 >= MAX_ABORTS) {
    return ok([{ type: "match_aborted", ...common, referee_id: null, reason: detail, log_head: "" }]);
  }
  return ok([{ type: "match_released", ...common, referee_id: match.refereeId as string, reason, detail }]);
}

function rejectEpoch(
  { leagueId }: League,
  { matchId: match_id, status, epoch }: Match,
  requestedEpoch: number,
): Decided {
  const message = `${matchRef(leagueId, match_id)} is ${status} under epoch ${epoch}`;
  return err(protocolError("G005", message, { match_id, epoch: requestedEpoch }));
}

export function decideSettle(league: League, { matchId, epoch, refereeId }: CommandOf<"settle_withdrawal">): Decided {
  const isPending = league.withdrawals.some(
    (pending) => pending.matchId === matchId && pending.epoch === epoch && pending.refereeId === refereeId,
  );
  return isPending ? ok([{ type: "withdrawal_settled", match_id: matchId, epoch, referee_id: refereeId }]) : UNCHANGED;
}
