import { SharedList } from "#shared/lib/list.ts";
import { follows } from "#shared/lib/result.ts";
import type { EventOf, LeagueEvent } from "./events.ts";
import { changedMatch } from "./evolve-match.ts";
import { changedRounds } from "./evolve-rounds.ts";
import { type League, type Match, roundOf, type Withdrawal } from "./league.ts";
import { positionOf } from "./match-ids.ts";
import { withOccupied } from "./occupied.ts";

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
