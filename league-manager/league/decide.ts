import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { MAX_SLOTS, QUOTED_CHARACTERS } from "./events.ts";
import { matchOf } from "./evolve.ts";
import {
  acceptsLateEntries,
  canPair,
  formatOf,
  isPlayed,
  opensAtOnce,
  parsedOptions,
  viewOf,
  withPlayers,
} from "./format-view.ts";
import {
  currentMatches,
  type League,
  type LeagueCommand,
  type LeagueSettings,
  type Match,
  matchIdOf,
  type NewLeagueEvent,
  numbered,
  type PairedRound,
  roundOf,
  type Seed,
} from "./league.ts";
import { ANNULLED, forfeitOf, REMOVED, SHUT_DOWN, summaryOf } from "./outcome.ts";
import { faultOfResult } from "./result-check.ts";

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

function decideOpen(league: League | null, settings: LeagueSettings): Decided {
  const { leagueId, like, runId, seedCommitment } = settings;
  const config = configOf(settings);
  if (league === null) {
    const ids = { league_id: leagueId, ...(like !== null && { like }), run_id: runId };
    return ok([{ type: "opened", ...ids, ...config, seed_commitment: seedCommitment }]);
  }
  const isSame = isDeepStrictEqual(configOf(league), config);
  return isSame || league.status !== "open" ? UNCHANGED : ok([{ type: "reconfigured", ...config }]);
}

/** The settings that the config determines, as events contain them. */
function configOf(settings: LeagueSettings) {
  const { game, roles, options, clock, format, formatOptions } = settings;
  const { tieBreaks, teams, openings, lateEntry, startsAt, roundMs } = settings;
  return {
    game,
    roles,
    options,
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

/** The answer to a command: the events to append, or a rejection. */
type Decided = Result<readonly NewLeagueEvent[], ProtocolError>;

type CommandOf<T extends LeagueCommand["type"]> = Extract<LeagueCommand, { type: T }>;

/** The decision about a command that was executed before: it is accepted without events. */
const UNCHANGED: Decided = ok([]);

/** The detail of the rejection of a command that a paused league does not execute. */
const PAUSED = "the operator has paused it";

/** Rejects a command that the state of the league does not allow. The text begins with that state. */
const rejectState = ({ leagueId: league_id, status }: League, detail: string): Decided =>
  err(protocolError("L005", `league ${league_id} is ${status}: ${detail}`, { league_id }));

/** Rejects a command with a text that begins with the name of the league. */
const rejectLeague = (league: League, detail: string, code: ProtocolError["error_code"] = "L005"): Decided =>
  err(protocolError(code, `league ${league.leagueId} ${detail}`, { league_id: league.leagueId }));

/** Rejects a command that names an unknown match. */
const rejectMatch = ({ leagueId }: League, match_id: string): Decided =>
  err(protocolError("G003", `no match ${matchRef(leagueId, match_id)}`, { match_id }));

/** The events that cancel those of the matches that are not completed. */
const cancellationsOf = (matches: readonly Match[]): readonly NewLeagueEvent[] =>
  matches.flatMap(({ matchId, epoch, status }) =>
    status === "completed" ? [] : [{ type: "match_cancelled", match_id: matchId, epoch }],
  );

/** The rejection of a request that names an unknown league. It names the leagues that exist. */
export function noLeague(league_id: string, leagues: Iterable<Pick<League, "leagueId">>): ProtocolError {
  const known = Array.from(leagues, ({ leagueId }) => leagueId).join(", ") || "none";
  return protocolError("L005", `no league ${league_id}; there are ${known}`, { league_id, cause: "unknown_league" });
}

/** Closes the registration. The first rounds are paired in the same append, unless the format opens its rounds at once. */
function decideStart(league: League, { seed }: CommandOf<"start">): Decided {
  const { leagueId: league_id, status, entrants, roles } = league;
  if (status !== "open") return err(protocolError("L005", `league ${league_id} is already ${status}`, { league_id }));
  if (entrants.size < roles.length) {
    const message = `league ${league_id} has ${entrants.size} of at least ${roles.length} players`;
    return err(protocolError("L001", message, {}, true));
  }
  return ok([
    { type: "started" },
    ...pairedOnce(league, 0, () => pairingEvents({ ...league, status: "running" }, seed, 0)),
  ]);
}

/** Pairs the rounds that the format adds now. */
function decidePair(league: League, { seed, slots }: CommandOf<"pair">): Decided {
  const limited = Math.min(slots, MAX_SLOTS);
  return ok(canPair(league) ? pairedOnce(league, limited, () => pairingEvents(league, seed, limited)) : []);
}

interface Paired {
  readonly slots: number;
  readonly events: readonly NewLeagueEvent[];
}

/** The last pairing of each state of a league. */
const paired = new WeakMap<League, Paired>();

/**
 * Returns the events of `pair`, which is called once for a state of a league. The pairing of many players takes seconds, for which several managers must
 * not hold the lock of their run: a manager that loses the lock decides again, on the same state.
 */
function pairedOnce(league: League, slots: number, pair: () => readonly NewLeagueEvent[]): readonly NewLeagueEvent[] {
  const known = paired.get(league);
  if (known?.slots === slots) return known.events;
  const events = pair();
  paired.set(league, { slots, events });
  return events;
}

function pairingEvents(league: League, seed: Seed, slots: number): readonly NewLeagueEvent[] {
  const next = formatOf(league).next(viewOf(league, seed), slots, parsedOptions(league));
  if (next === "wait") return [];
  if (next === "completed") {
    const cancelled = formatOf(league).cancelsOpenMatches ? currentMatches(league) : [];
    return [{ type: "pairing_completed" }, ...cancellationsOf(cancelled)];
  }
  return numbered(withPlayers(league, next.rounds), league.rounds.length).map((round) => ({
    type: "round_paired",
    ...withOpening(league, round),
    ...(opensAtOnce(league) && { slots }),
  }));
}

/** Adds the opening of a round to its pairings. The openings are used again after the last one. */
function withOpening({ openings }: League, round: PairedRound): PairedRound {
  const options = openings?.[(round.round_id - 1) % openings.length];
  return options === undefined
    ? round
    : { ...round, pairings: round.pairings.map((pairing) => ({ ...pairing, options })) };
}

/** Enters a player into an open league, or into a running one that accepts late entries. */
function decideEnter(league: League, { playerId, nameCommitment, byOperator }: CommandOf<"enter">): Decided {
  if (league.entrants.has(playerId)) return UNCHANGED;
  const entry = { type: "player_entered", player_id: playerId, name_commitment: nameCommitment } as const;
  if (league.status === "open") return ok([entry]);
  const closed = lateEntryRejection(league, byOperator === true);
  if (closed !== null) return rejectLeague(league, closed, "L001");
  return ok([{ ...entry, entered_after: league.rounds.length, ...(byOperator && { by_operator: true }) }]);
}

/** Returns the reason why a league that is not open accepts no further player, or null if it accepts one. */
export function lateEntryRejection(league: League, byOperator: boolean): string | null {
  const { status, lateEntry, isPairingComplete, format } = league;
  if (status === "completed") return "is over";
  if (lateEntry === "closed" && !byOperator) return "is running and accepts no more players";
  if (!acceptsLateEntries(league)) {
    const advice = format === "round-robin" ? '; its config needs "late_entry": "makeup" before the start' : "";
    return `is running, and its format has no matches for a player that enters now${advice}`;
  }
  return isPairingComplete ? "is running, and its last matches are paired" : null;
}

/** Removes a player from an open league. In a running league the player stays an entrant, and its further matches are forfeited. */
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
  const { roundId, shutDown, removed = new Set() } = command;
  const round = roundOf(league, roundId);
  if (!round) return rejectRound(league, roundId);
  if (round.isOpened) return UNCHANGED;
  if (league.isPaused) return rejectState(league, PAUSED);
  if (roundId !== league.currentRound) return rejectState(league, `round ${roundId} is not the current one`);
  const players = [...new Set(round.matches.flatMap((match) => match.players))];
  const absent = players.flatMap((player_id) => {
    const agent_version = shutDown.get(player_id);
    return agent_version === undefined
      ? []
      : [{ player_id, agent_version, ...(removed.has(player_id) && { removed: true as const }) }];
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

/** Records that a round is announced to the players. */
function decideAnnounceRound(league: League, roundId: number): Decided {
  const round = roundOf(league, roundId);
  if (!round) return rejectRound(league, roundId);
  if (round.isAnnounced) return UNCHANGED;
  if (!round.isOpened) return rejectState(league, `round ${roundId} is not opened`);
  return ok([{ type: "round_announced", round_id: roundId }]);
}

/** Ends a round whose time is over: its matches that are not completed are cancelled, and count for no player. */
function decideExpireRound(league: League, { roundId }: CommandOf<"expire_round">): Decided {
  const round = roundOf(league, roundId);
  if (!round?.isOpened || round.isExpired || round.open === 0 || league.roundMs === null) return UNCHANGED;
  if (league.isPaused) return rejectLeague(league, "is paused");
  return ok([{ type: "round_expired", round_id: roundId }, ...cancellationsOf(round.matches)]);
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
  const match_id = matchIdOf(roundId, roundOf({ rounds }, roundId)?.matches.length ?? 0);
  return ok([{ type: "match_scheduled", match_id, round_id: roundId, players }]);
}

function decideAssign(league: League, { matchId, epoch, refereeId }: CommandOf<"assign">): Decided {
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
function decideRelease(league: League, { matchId, epoch, reason, ...command }: CommandOf<"release">): Decided {
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

function decideSettle(league: League, { matchId, epoch, refereeId }: CommandOf<"settle_withdrawal">): Decided {
  const isPending = league.withdrawals.some(
    (pending) => pending.matchId === matchId && pending.epoch === epoch && pending.refereeId === refereeId,
  );
  return isPending ? ok([{ type: "withdrawal_settled", match_id: matchId, epoch, referee_id: refereeId }]) : UNCHANGED;
}

/** The number of aborts after which a match is completed as aborted, without points. */
export const MAX_ABORTS = 3;

/** The decision about an accepted report. */
interface DecidedReport {
  /** Empty if the same result is already recorded. */
  readonly events: readonly NewLeagueEvent[];
  /**
   * The error for the referee if the result contradicts its log, else null. With a fault the match counts as aborted: the caller appends the events,
   * answers the referee with the error, and does not store the session log.
   */
  readonly fault: ProtocolError | null;
}

/**
 * Decides the result that a referee reports. Returns G003 for an unknown match, L004 if the match is not assigned to the referee under the epoch,
 * and G001 if another result is recorded.
 */
export function decideReport(
  league: League,
  { result, refereeId, seed }: Extract<LeagueCommand, { type: "report" }>,
): Result<DecidedReport, ProtocolError> {
  const { match_id, epoch } = result;
  const name = matchRef(league.leagueId, match_id);
  const match = matchOf(league, match_id);
  if (!match) return err(protocolError("G003", `no match ${name}`, { match_id }));
  if (match.refereeId !== refereeId || match.epoch !== epoch) {
    const message = `${name} is not assigned to ${refereeId} under epoch ${epoch}`;
    return err(protocolError("L004", message, { match_id, epoch: match.epoch }));
  }
  if (match.status === "completed") return isRecorded(match, result) ? ok(NO_EVENTS) : err(conflictError(name, match));
  const fault = faultOfResult(league, match, seed, result);
  if (fault !== null) {
    const error = protocolError("G001", `result of ${name}: ${fault}`, { match_id });
    const reason = `bad result: ${fault}`.slice(0, QUOTED_CHARACTERS);
    return ok({ events: [abortEvent(match, refereeId, reason, "")], fault: error });
  }
  if (result.termination === "aborted") {
    return ok({ events: [abortEvent(match, refereeId, result.reason, result.log_head)], fault: null });
  }
  return ok({ events: [completionEvent(result, refereeId)], fault: null });
}

const NO_EVENTS: DecidedReport = { events: [], fault: null };

/** The event of an abort: the match is released to be played again, or completed as aborted after `MAX_ABORTS`. */
function abortEvent(match: Match, referee_id: string, reason: string, log_head: string): NewLeagueEvent {
  const common = { match_id: match.matchId, epoch: match.epoch, referee_id };
  return match.aborts + 1 < MAX_ABORTS
    ? { type: "match_released", ...common, reason: "aborted", detail: reason }
    : { type: "match_aborted", ...common, reason, log_head };
}

/** The event that records the result of a match that is played to its end. */
export function completionEvent(result: MatchResult, referee_id: string): NewLeagueEvent {
  const { match_id, epoch, winner, final_scores, match_points, termination, reason, faults, log_head } = result;
  const summary = { winner, final_scores, match_points, termination, reason, faults, log_head };
  return { type: "match_completed", match_id, epoch, referee_id, ...summary };
}

/** Whether a result equals the recorded one. The record of an aborted match has no scores, points and faults, so they are not compared. */
function isRecorded(match: Match, result: MatchResult): boolean {
  if (result.round_id !== match.roundId) return false;
  const recorded = summaryOf(match);
  const isAborted = recorded.termination === "aborted";
  const { winner, termination, reason, log_head } = result;
  const { final_scores, match_points, faults } = isAborted ? recorded : result;
  return isDeepStrictEqual({ winner, final_scores, match_points, termination, reason, faults, log_head }, recorded);
}

function conflictError(name: string, match: Match): ProtocolError {
  const { matchId: match_id } = match;
  const { winner, termination, log_head } = summaryOf(match);
  const message = `another result of ${name} is recorded: ${termination}, winner ${winner ?? "none"}`;
  return protocolError("G001", message, { match_id, winner, termination, log_head });
}

/** Returns the rejection of a change if a league was ended or has no match left, else null. The end of such a league is being announced, and a player that knows it may end its process. */
function rejectOver(league: League): Decided | null {
  if (league.isEnded) return rejectLeague(league, "is already ended by the operator");
  return isPlayed(league) ? rejectLeague(league, "has completed its last match and ends by itself") : null;
}

const rejectNotRunning = (league: League, change: "paused" | "resumed" | "extended" | "ended"): Decided =>
  rejectLeague(league, `is ${league.status}; only a running league can be ${change}`);

function decidePause(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "paused");
  return rejectOver(league) ?? (league.isPaused ? UNCHANGED : ok([{ type: "paused" }]));
}

function decideResume(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "resumed");
  return league.isPaused ? ok([{ type: "resumed" }]) : UNCHANGED;
}

/** Raises options of the format that it declares as extendable. Changes that leave fewer matches are rejected. */
function decideExtend(league: League, { formatOptions }: CommandOf<"extend">): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "extended");
  const over = rejectOver(league);
  if (over) return over;
  const format = formatOf(league);
  const changed = Object.keys(formatOptions).filter((name) => formatOptions[name] !== league.formatOptions[name]);
  const fixed = changed.find((name) => !format.extendable.includes(name));
  if (fixed !== undefined) {
    const allowed =
      format.extendable.length > 0 ? `only ${format.extendable.join(" and ")} can` : "none of its options can";
    return rejectLeague(
      league,
      `cannot be extended by ${fixed}: its format is ${format.id}, and ${allowed} be raised`,
      "L001",
    );
  }
  const parsed = format.options.safeParse({ ...league.formatOptions, ...formatOptions });
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => faultLine(issue)).join("; ");
    return rejectLeague(league, `cannot be extended: ${faults}`, "L001");
  }
  // An option that can be raised is a number. It may have no default.
  const before = parsedOptions(league) as Readonly<Record<string, number | undefined>>;
  const after = parsed.data as Readonly<Record<string, number | undefined>>;
  for (const name of changed) {
    const least = before[name] ?? league.rounds.length;
    if ((after[name] ?? 0) < least) {
      return rejectLeague(league, `cannot be extended: ${name} must be a number of at least ${least}`, "L001");
    }
  }
  const view = viewOf(league, "");
  if ((format.remaining(view, after) ?? 0) < (format.remaining(view, before) ?? 0)) {
    return rejectLeague(
      league,
      `cannot be extended: ${changed.join(", ")} would leave fewer matches than before`,
      "L001",
    );
  }
  if (!changed.some((name) => after[name] !== before[name])) return UNCHANGED;
  return ok([{ type: "extended", format_options: { ...league.formatOptions, ...formatOptions } }]);
}

/** Ends a running league, also a paused one: no round is paired any more, and all matches that are not completed are cancelled. */
function decideEnd(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "ended");
  return (
    rejectOver(league) ??
    ok([
      { type: "pairing_completed", by: "operator" },
      ...league.rounds.flatMap(({ matches }) => cancellationsOf(matches)),
    ])
  );
}

/** Annuls a match, unless rounds that are paired already depend on its result. */
function decideAnnul(league: League, { matchId, reason }: CommandOf<"annul">): Decided {
  const match = matchOf(league, matchId);
  const name = matchRef(league.leagueId, matchId);
  if (!match) return rejectMatch(league, matchId);
  if (league.status !== "running") return rejectLeague(league, `is ${league.status}; its matches cannot be annulled`);
  if (match.outcome?.reason === ANNULLED) return UNCHANGED;
  const over = rejectOver(league);
  if (over) return over;
  const dependent = dependentRound(league, match);
  if (dependent !== null) {
    const message = `${name} cannot be annulled: the pairings of round ${dependent} depend on it`;
    return err(protocolError("G005", message, { match_id: matchId, round_id: dependent }));
  }
  return ok([
    {
      ...({ type: "match_annulled", match_id: matchId, epoch: match.epoch } as const),
      reason: reason.slice(0, QUOTED_CHARACTERS),
      ...(match.outcome && { match_points: summaryOf(match).match_points }),
    },
  ]);
}

/** The first round whose pairings can depend on the result of a match: the next one, unless the format ignores results; null if there is none. */
const dependentRound = (league: League, { roundId }: Match): number | null =>
  formatOf(league).ignoresResults ? null : (roundOf(league, roundId + 1)?.roundId ?? null);
