import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand, LeagueSettings, NewLeagueEvent } from "./commands.ts";
import {
  decideAnnul,
  decideEnd,
  decideEnter,
  decideExpireRound,
  decideExtend,
  decidePause,
  decideResume,
} from "./decide-operator.ts";
import { decidePair, decideStart, isPlayed } from "./decide-pairing.ts";
import { QUOTED_CHARACTERS } from "./events.ts";
import { matchOf } from "./evolve.ts";
import { formatOf } from "./format-view.ts";
import type { League, Match } from "./league.ts";
import { matchIdOf } from "./match-ids.ts";
import { forfeitOf, REMOVED, SHUT_DOWN } from "./outcome.ts";
import { decideReport, MAX_ABORTS } from "./report.ts";

type Decided = Result<readonly NewLeagueEvent[], ProtocolError>;
type CommandOf<T extends LeagueCommand["type"]> = Extract<LeagueCommand, { type: T }>;

/** The decision about a command that was executed before: it is accepted without events. */
const UNCHANGED: Decided = ok([]);

/**
 * Decides a command. `league` is null before it is opened. Returns the events, or a rejection. A command that was executed before is accepted
 * without events, so that effects can repeat it. Callers that need the fault of a reported result use `decideReport`.
 */
export function decideLeague(league: League | null, command: LeagueCommand): Decided {
  if (command.type === "open") return decideOpen(league, command.settings);
  if (league === null) return err(protocolError("L005", "the league is not opened"));
  switch (command.type) {
    case "enter":
      return decideEnter(league, command);
    case "leave":
      return decideLeave(league, command);
    case "start":
      return decideStart(league, command);
    case "pair":
      return decidePair(league, command);
    case "open_round":
      return decideOpenRound(league, command);
    case "announce_round":
      return decideAnnounceRound(league, command.roundId);
    case "schedule":
      return decideSchedule(league, command);
    case "assign":
      return decideAssign(league, command);
    case "release":
      return decideRelease(league, command);
    case "report": {
      const decided = decideReport(league, command);
      return decided.ok ? ok(decided.value.events) : decided;
    }
    case "settle_withdrawal":
      return decideSettle(league, command);
    case "pause":
      return decidePause(league);
    case "resume":
      return decideResume(league);
    case "extend":
      return decideExtend(league, command);
    case "end":
      return decideEnd(league);
    case "annul":
      return decideAnnul(league, command);
    case "expire_round":
      return decideExpireRound(league, command);
    case "complete":
      if (league.status === "completed") return UNCHANGED;
      return isPlayed(league)
        ? ok([{ type: "completed" }])
        : rejectState(league, league.isPaused ? PAUSED : "its matches are not completed");
  }
}

const PAUSED = "the operator has paused it";

const rejectState = ({ leagueId: league_id, status }: League, detail: string): Decided =>
  err(protocolError("L005", `league ${league_id} is ${status}: ${detail}`, { league_id }));

function decideOpen(league: League | null, settings: LeagueSettings): Decided {
  const { leagueId, runId, seedCommitment } = settings;
  const config = configOf(settings);
  if (league === null) {
    return ok([{ type: "opened", league_id: leagueId, run_id: runId, ...config, seed_commitment: seedCommitment }]);
  }
  const isSame = isDeepStrictEqual(configOf(league), config);
  return isSame || league.status !== "open" ? UNCHANGED : ok([{ type: "reconfigured", ...config }]);
}

/** The settings that the config determines, as events contain them. */
function configOf(settings: LeagueSettings) {
  const { game, roles, options, clock, format, formatOptions } = settings;
  const { tieBreaks, teams, openings, lateEntry, startsAt, roundMs } = settings;
  return {
    ...{ game, roles, options },
    ...(clock && { clock }),
    format,
    ...(Object.keys(formatOptions).length > 0 && { format_options: formatOptions }),
    ...(tieBreaks && { tie_breaks: tieBreaks }),
    ...(teams && { teams }),
    ...(openings && { openings }),
    ...(lateEntry !== "closed" && { late_entry: lateEntry }),
    ...(startsAt !== null && { starts_at: startsAt }),
    ...(roundMs !== null && { round_ms: roundMs }),
  };
}

function decideLeave(league: League, { playerId, agentVersion }: CommandOf<"leave">): Decided {
  const { status, entrants, departed } = league;
  if (status === "completed" || !entrants.has(playerId) || departed.includes(playerId)) return UNCHANGED;
  if (status === "open") return ok([{ type: "player_left", player_id: playerId }]);
  return agentVersion === undefined
    ? rejectState(league, `${playerId} leaves a running league only with the version of its log`)
    : ok([{ type: "player_left", player_id: playerId, agent_version: agentVersion }]);
}

/** Opens the current round, and forfeits its matches with players that are shut down. */
function decideOpenRound(league: League, command: CommandOf<"open_round">): Decided {
  const { roundId, shutDown, removed } = command;
  const round = league.rounds[roundId - 1];
  if (!round) return rejectRound(league, roundId);
  if (round.isOpened) return UNCHANGED;
  if (league.isPaused) return rejectState(league, PAUSED);
  if (roundId !== league.currentRound) return rejectState(league, `round ${roundId} is not the current one`);
  const players = [...new Set(round.matches.flatMap((match) => match.players))];
  const absent = players.flatMap((player_id) => {
    const agent_version = shutDown.get(player_id);
    return agent_version === undefined
      ? []
      : [{ player_id, agent_version, ...(removed?.has(player_id) && { removed: true as const }) }];
  });
  const forfeits = round.matches.filter(
    ({ status, players: seated }) => status !== "completed" && seated.some((playerId) => shutDown.has(playerId)),
  );
  return ok([
    { type: "round_opened", round_id: roundId, absent },
    ...forfeits.map((match) => forfeitEvent(league, match, command)),
  ]);
}

function forfeitEvent(
  league: League,
  match: Match,
  { shutDown, removed = new Set() }: CommandOf<"open_round">,
): NewLeagueEvent {
  const absent = match.players.filter((playerId) => shutDown.has(playerId));
  const detailOf = (playerId: string): string =>
    removed.has(playerId) ? "the operator removed the player" : "the player is shut down";
  return {
    type: "match_completed",
    match_id: match.matchId,
    epoch: match.epoch,
    referee_id: null,
    ...forfeitOf(league, match.players, absent, detailOf),
    termination: "forfeit",
    reason: absent.every((playerId) => removed.has(playerId)) ? REMOVED : SHUT_DOWN,
    log_head: "",
  };
}

const rejectRound = ({ leagueId: league_id }: League, roundId: number): Decided =>
  err(protocolError("G003", `league ${league_id} has no round ${roundId}`, { league_id, round_id: roundId }));

function decideAnnounceRound(league: League, roundId: number): Decided {
  const round = league.rounds[roundId - 1];
  if (!round) return rejectRound(league, roundId);
  if (round.isAnnounced) return UNCHANGED;
  if (!round.isOpened) return rejectState(league, `round ${roundId} is not opened`);
  return ok([{ type: "round_announced", round_id: roundId }]);
}

/** Adds a match to the current round, a later one or a new last round of a running league. */
function decideSchedule(league: League, { players, roundId }: CommandOf<"schedule">): Decided {
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
  const match_id = matchIdOf(roundId, rounds[roundId - 1]?.matches.length ?? 0);
  return ok([{ type: "match_scheduled", match_id, round_id: roundId, players }]);
}

function decideAssign(league: League, { matchId, epoch, refereeId }: CommandOf<"assign">): Decided {
  const match = matchOf(league, matchId);
  if (!match) return rejectMatch(league, matchId);
  if (league.isPaused) return rejectState(league, PAUSED);
  const isOpened = league.rounds[match.roundId - 1]?.isOpened === true;
  if (match.status !== "scheduled" || match.epoch !== epoch || !isOpened) return rejectEpoch(league, match, epoch);
  return ok([{ type: "match_assigned", match_id: matchId, epoch, referee_id: refereeId }]);
}

/**
 * Takes a match from its referee. A match that is overdue is completed as aborted if it has had too many aborts. The detail may quote the referee.
 */
function decideRelease(league: League, { matchId, epoch, reason, ...command }: CommandOf<"release">): Decided {
  const detail = command.detail.slice(0, QUOTED_CHARACTERS);
  const match = matchOf(league, matchId);
  if (!match) return rejectMatch(league, matchId);
  const { status, refereeId, aborts } = match;
  if (status !== "assigned" || match.epoch !== epoch || refereeId === null) return rejectEpoch(league, match, epoch);
  const common = { match_id: matchId, epoch };
  if (reason === "overdue" && aborts + 1 >= MAX_ABORTS) {
    return ok([{ type: "match_aborted", ...common, referee_id: null, reason: detail, log_head: "" }]);
  }
  return ok([{ type: "match_released", ...common, referee_id: refereeId, reason, detail }]);
}

const rejectMatch = ({ leagueId }: League, match_id: string): Decided =>
  err(protocolError("G003", `no match ${matchRef(leagueId, match_id)}`, { match_id }));

function rejectEpoch(
  { leagueId }: League,
  { matchId: match_id, status, epoch }: Match,
  requestedEpoch: number,
): Decided {
  const message = `${matchRef(leagueId, match_id)} is ${status} under epoch ${epoch}`;
  return err(protocolError("G005", message, { match_id, epoch: requestedEpoch }));
}

function decideSettle(league: League, { matchId, epoch, refereeId }: CommandOf<"settle_withdrawal">): Decided {
  const isPending = league.withdrawals.some(
    (pending) => pending.matchId === matchId && pending.epoch === epoch && pending.refereeId === refereeId,
  );
  return isPending ? ok([{ type: "withdrawal_settled", match_id: matchId, epoch, referee_id: refereeId }]) : UNCHANGED;
}
