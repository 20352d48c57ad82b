import { isDeepStrictEqual } from "node:util";
import { SharedList } from "#shared/lib/list.ts";
import { follows } from "#shared/lib/result.ts";
import type { EventOf, LeagueEvent } from "./events.ts";
import {
  type League,
  type Match,
  matchIdOf,
  type Outcome,
  positionOf,
  type Round,
  roundOf,
  type Withdrawal,
} from "./league.ts";
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

type Changes = Partial<League>;

/** Returns the league after an event. Throws if the event cannot follow: a log may come from another machine. */
export function evolveLeague(league: League | null, event: LeagueEvent): League {
  if (event.type === "opened") {
    follows(league === null, "a league is opened once");
    return openedLeague(event);
  }
  follows(league, `${event.type} before the league is opened`);
  return { ...league, ...changesOf(league, event), version: league.version + 1 };
}

/** Returns the league after these events; null if there are none. */
export function foldLeague(events: Iterable<LeagueEvent>): League | null {
  let league: League | null = null;
  for (const event of events) league = evolveLeague(league, event);
  return league;
}

/** Returns the match with this id, or null if the league has no such match. */
export function matchOf(league: League, matchId: string): Match | null {
  const position = positionOf(matchId);
  return (position && roundOf(league, position.roundId)?.matches[position.index]) ?? null;
}

const openedLeague = (event: EventOf<"opened">): League => ({
  leagueId: event.league_id,
  like: event.like ?? null,
  version: 1,
  runId: event.run_id,
  game: event.game,
  roles: event.roles,
  options: event.options,
  clock: event.clock ?? null,
  ...formatFieldsOf(event),
  ...operationFieldsOf(event),
  seedCommitment: event.seed_commitment,
  status: "open",
  entrants: new Map(),
  lateEntries: {},
  isPaused: false,
  resumedAt: null,
  annulledCount: 0,
  departed: [],
  rounds: SharedList.of(),
  currentRound: null,
  openRounds: [],
  isPairingComplete: false,
  isEnded: false,
  withdrawals: [],
  occupied: new Map(),
  matchCount: 0,
  completedCount: 0,
});

/** The format of a league and its options. Logs of earlier versions have only the format. */
const formatFieldsOf = ({
  format,
  format_options,
  tie_breaks,
  teams,
  openings,
}: EventOf<"opened" | "reconfigured">): Pick<
  League,
  "format" | "formatOptions" | "tieBreaks" | "teams" | "openings"
> => ({
  format,
  formatOptions: format_options ?? {},
  tieBreaks: tie_breaks ?? null,
  teams: teams ?? null,
  openings: openings ?? null,
});

const operationFieldsOf = ({
  late_entry,
  starts_at,
  round_ms,
}: EventOf<"opened" | "reconfigured">): Pick<League, "lateEntry" | "startsAt" | "roundMs"> => ({
  lateEntry: late_entry ?? "closed",
  startsAt: starts_at ?? null,
  roundMs: round_ms ?? null,
});

function changesOf(league: League, event: Exclude<LeagueEvent, { type: "opened" }>): Changes {
  switch (event.type) {
    case "reconfigured": {
      follows(league.status === "open", "reconfigured after the start");
      const { game, roles, options, clock = null } = event;
      return { game, roles, options, clock, ...formatFieldsOf(event), ...operationFieldsOf(event) };
    }
    case "player_entered":
      return afterEntry(league, event);
    case "player_left":
      return afterDeparture(league, event);
    case "started":
      follows(league.status === "open", "started twice");
      follows(league.entrants.size >= league.roles.length, "started with too few players");
      return { status: "running" };
    case "completed":
      follows(league.status === "running" && isPaired(league), "completed without having been played");
      follows(league.currentRound === null, "completed before its last match");
      return { status: "completed" };
    case "pairing_completed":
      follows(league.status === "running" && !league.isEnded, "the pairing cannot be completed now");
      if (event.by === "operator") return { isPairingComplete: true, isEnded: true, isPaused: false };
      follows(!league.isPairingComplete, "the pairing cannot be completed now");
      return { isPairingComplete: true };
    case "withdrawal_settled": {
      const withdrawals = league.withdrawals.filter((withdrawal) => !isSettledBy(withdrawal, event));
      follows(withdrawals.length < league.withdrawals.length, `${event.match_id} is not withdrawn`);
      const settled = league.withdrawals.length - withdrawals.length;
      return { withdrawals, occupied: withOccupied(league, event.referee_id, -settled) };
    }
    case "paused":
      follows(league.status === "running" && !league.isPaused && !league.isEnded, "the league cannot be paused now");
      return { isPaused: true };
    case "resumed":
      follows(league.isPaused, "the league is resumed without being paused");
      return { isPaused: false, resumedAt: event.at };
    case "extended":
      follows(league.status === "running" && !league.isEnded, "extended while the league is not running");
      return { formatOptions: event.format_options, isPairingComplete: false };
    case "round_paired":
    case "round_opened":
    case "round_expired":
    case "round_announced":
    case "match_scheduled":
      return changedRounds(league, event);
    default: {
      const match = matchOf(league, event.match_id);
      follows(match, `there is no match ${event.match_id}`);
      return changedMatch(league, match, event);
    }
  }
}

/** Whether a league has rounds, or its format has none. */
const isPaired = ({ rounds, isPairingComplete }: League): boolean => rounds.length > 0 || isPairingComplete;

function afterEntry(league: League, event: EventOf<"player_entered">): Changes {
  const { player_id, name_commitment, entered_after, by_operator } = event;
  const { status, entrants, rounds, lateEntries } = league;
  const isLate = status === "running" && (by_operator === true || league.lateEntry !== "closed");
  follows(status === "open" || (isLate && !league.isPairingComplete), `${player_id} entered after the start`);
  follows(!entrants.has(player_id), `${player_id} entered twice`);
  follows(entered_after === (isLate ? rounds.length : undefined), `${player_id} entered after another round`);
  return {
    entrants: new Map(entrants).set(player_id, name_commitment),
    ...(entered_after !== undefined && { lateEntries: { ...lateEntries, [player_id]: entered_after } }),
  };
}

/** A player that leaves before the start is no entrant. A player that leaves later stays in the standings. */
function afterDeparture(league: League, { player_id, agent_version }: EventOf<"player_left">): Changes {
  const { status, entrants, departed } = league;
  follows(status !== "completed", `${player_id} left after the end`);
  follows(entrants.has(player_id), `${player_id} left without having entered`);
  follows((agent_version !== undefined) === (status === "running"), `${player_id} left without the version of its log`);
  if (status === "open") return { entrants: new Map([...entrants].filter(([id]) => id !== player_id)) };
  follows(!departed.includes(player_id), `${player_id} left twice`);
  return { departed: [...departed, player_id] };
}

/** Whether an event settles this withdrawal. */
const isSettledBy = (withdrawal: Withdrawal, event: EventOf<"withdrawal_settled">): boolean =>
  withdrawal.matchId === event.match_id &&
  withdrawal.epoch === event.epoch &&
  withdrawal.refereeId === event.referee_id;

/** Returns the fields of the league that the pairing, opening, announcement or extension of a round changes. Throws if the event cannot follow. */
function changedRounds(
  league: League,
  event: EventOf<"round_paired" | "round_opened" | "round_expired" | "round_announced" | "match_scheduled">,
): Partial<League> {
  const { rounds, currentRound, openRounds, matchCount } = league;
  const { round_id } = event;
  const round = roundOf({ rounds }, round_id);
  switch (event.type) {
    case "round_paired": {
      const paired = pairedRound(league, event);
      const hasMatches = paired.matches.length > 0;
      return {
        rounds: rounds.append(paired),
        currentRound: currentRound ?? (hasMatches ? round_id : null),
        ...(paired.isOpened && hasMatches && { openRounds: [...openRounds, round_id] }),
        matchCount: matchCount + paired.matches.length,
      };
    }
    case "round_opened": {
      follows(
        round && round_id === currentRound && !round.isOpened && !league.isPaused,
        `round ${round_id} cannot be opened now`,
      );
      const { matches } = round;
      const plays = (playerId: string): boolean => matches.some((match) => match.players.includes(playerId));
      follows(
        event.absent.every(({ player_id }) => plays(player_id)),
        `an absent player of round ${round_id} has no match`,
      );
      return {
        rounds: rounds.with(round_id - 1, { ...round, isOpened: true, openedAt: event.at }),
        openRounds: [...openRounds, round_id],
      };
    }
    case "round_expired":
      follows(
        league.roundMs !== null && round?.isOpened && round.open > 0 && !round.isExpired,
        `round ${round_id} cannot expire now`,
      );
      return { rounds: rounds.with(round_id - 1, { ...round, isExpired: true }) };
    case "round_announced":
      follows(round?.isOpened && !round.isAnnounced, `round ${round_id} cannot be announced now`);
      return { rounds: rounds.with(round_id - 1, { ...round, isAnnounced: true }) };
    case "match_scheduled": {
      follows(
        currentRound !== null && round_id >= currentRound,
        `${event.match_id} is scheduled in a round that is over`,
      );
      follows(round_id <= rounds.length + 1, `there is no round ${round_id}`);
      const before = round ?? emptyRound(round_id);
      const added = newMatch(league, round_id, before.matches.length, event);
      const after = { ...before, matches: [...before.matches, added], open: before.open + 1 };
      return { rounds: round ? rounds.with(round_id - 1, after) : rounds.append(after), matchCount: matchCount + 1 };
    }
  }
}

const emptyRound = (roundId: number): Round => ({
  roundId,
  label: null,
  matches: [],
  byes: [],
  open: 0,
  isOpened: false,
  isAnnounced: false,
  openedAt: null,
  isExpired: false,
});

function pairedRound(league: League, event: EventOf<"round_paired">): Round {
  const { round_id, pairings, byes, label, slots } = event;
  follows(league.status === "running", `round ${round_id} is paired while the league is not running`);
  follows(!league.isPairingComplete, `round ${round_id} is paired after the end of the format`);
  follows(round_id === league.rounds.length + 1, `round ${round_id} is paired after round ${league.rounds.length}`);
  const matches = pairings.map((pairing, index) => newMatch(league, round_id, index, pairing));
  checkPlayers(round_id, matches, byes);
  follows(
    byes.every((playerId) => league.entrants.has(playerId)),
    `a player with a bye in round ${round_id} is not a player of the league`,
  );
  return {
    ...emptyRound(round_id),
    label: label ?? null,
    matches,
    byes,
    open: matches.length,
    isOpened: slots !== undefined,
    openedAt: slots === undefined ? null : event.at,
  };
}

/** Throws if a player with a bye has a match in the round, or a player has matches with different players. The legs of a pairing have the same players. */
function checkPlayers(roundId: number, matches: readonly Match[], byes: readonly string[]): void {
  const pairings = new Map<string, readonly string[]>();
  const list = (playerId: string, pairing: readonly string[]): void => {
    const earlier = pairings.get(playerId);
    const isListed = earlier !== undefined && !pairing.every((id) => earlier.includes(id));
    follows(!isListed, `a player is listed twice in round ${roundId}`);
    pairings.set(playerId, pairing);
  };
  for (const playerId of byes) list(playerId, []);
  follows(pairings.size === byes.length, `a player is listed twice in round ${roundId}`);
  for (const { players } of matches) for (const playerId of players) list(playerId, players);
}

interface NewMatch {
  readonly match_id: string;
  readonly players: readonly string[];
  readonly options?: Match["options"] | undefined;
}

function newMatch(
  { roles, entrants }: League,
  roundId: number,
  index: number,
  { match_id, players, options = null }: NewMatch,
): Match {
  follows(match_id === matchIdOf(roundId, index), `${match_id} is not the next match of round ${roundId}`);
  follows(
    players.length === roles.length && players.every((playerId, seat) => players.indexOf(playerId) === seat),
    `${match_id} needs ${roles.length} players`,
  );
  const unknownPlayer = players.find((playerId) => !entrants.has(playerId));
  follows(unknownPlayer === undefined, `${unknownPlayer} is not a player of the league`);
  return {
    matchId: match_id,
    roundId,
    players,
    options,
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    assignedAt: null,
    aborts: 0,
    lastRelease: null,
    outcome: null,
    logHead: null,
  };
}

type MatchEvent = EventOf<
  "match_assigned" | "match_released" | "match_completed" | "match_aborted" | "match_cancelled" | "match_annulled"
>;

/** Returns the fields of the league that an event of a match changes. Throws if the event cannot follow. */
function changedMatch(league: League, before: Match, event: MatchEvent): Partial<League> {
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

/** The matches that occupy the referees of a league. It follows from the rounds and the withdrawals. */
export function occupiedBy({ rounds, withdrawals }: Pick<League, "rounds" | "withdrawals">): League["occupied"] {
  const occupied = new Map<string, number>();
  const add = (refereeId: string) => occupied.set(refereeId, (occupied.get(refereeId) ?? 0) + 1);
  for (const { matches } of rounds)
    for (const { status, refereeId } of matches) if (status === "assigned") add(refereeId as string);
  for (const { refereeId } of withdrawals) add(refereeId);
  return occupied;
}

/** The same with `change` more matches of one referee. */
function withOccupied(
  { occupied }: Pick<League, "occupied">,
  refereeId: string | null,
  change: number,
): League["occupied"] {
  if (refereeId === null) return occupied;
  const count = (occupied.get(refereeId) ?? 0) + change;
  const after = new Map(occupied);
  if (count > 0) after.set(refereeId, count);
  else after.delete(refereeId);
  return after;
}
