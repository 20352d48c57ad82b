import type { LeagueEvent } from "./events.ts";
import { matchOf } from "./evolve.ts";
import { canPair, isPlayed } from "./format-view.ts";
import { type League, type Match, type Round, roundOf, type Withdrawal } from "./league.ts";

/** The next steps of a league, derived from its state. The reconciler starts the steps that are not running yet. */
export interface OpenWork {
  /** The round to open, because all earlier rounds are completed; null if there is none. */
  readonly roundToOpen: number | null;
  /** The numbers of the rounds that are opened and not announced. */
  readonly roundsToAnnounce: ReadonlySet<number>;
  /** Scheduled matches of opened rounds, by id. Released matches come last. */
  readonly unassigned: ReadonlyMap<string, Match>;
  /** Assigned matches, by id. */
  readonly assigned: ReadonlyMap<string, Match>;
  /** Matches that were taken from referees that have not acknowledged this. */
  readonly withdrawals: readonly Withdrawal[];
  /** Whether the format may add rounds in this state. */
  readonly isToPair: boolean;
  /** Whether the format adds no more rounds, all matches are completed and the league is not. */
  readonly isToComplete: boolean;
}

/** The open work in a form that each event can update. */
interface Index extends OpenWork {
  readonly roundsToAnnounce: Set<number>;
  readonly unassigned: Map<string, Match>;
  readonly assigned: Map<string, Match>;
}

/** Computes the open work of a league in one pass over its opened rounds. */
export function openWork(league: League): OpenWork {
  const work = { roundsToAnnounce: new Set<number>(), unassigned: new Map(), assigned: new Map() };
  for (const round of league.rounds) {
    if (round.isOpened && !round.isAnnounced) work.roundsToAnnounce.add(round.roundId);
    if (round.isOpened && round.open > 0) for (const match of round.matches) indexMatch(work, match);
  }
  return { ...work, ...workOfLeague(league) };
}

/** Updates open work in place after an event, and returns it. `league` is the league after the event. */
export function advanceWork(work: OpenWork, league: League, event: LeagueEvent): OpenWork {
  const index = work as Index;
  switch (event.type) {
    case "round_paired":
    case "round_opened": {
      const round = roundOf(league, event.round_id) as Round;
      if (!round.isOpened) break;
      index.roundsToAnnounce.add(event.round_id);
      for (const match of round.matches) indexMatch(index, match);
      break;
    }
    case "round_announced":
      index.roundsToAnnounce.delete(event.round_id);
      break;
    case "match_scheduled":
    case "match_assigned":
    case "match_released":
    case "match_completed":
    case "match_aborted":
    case "match_cancelled":
    case "match_annulled": {
      const match = matchOf(league, event.match_id) as Match;
      if ((roundOf(league, match.roundId) as Round).isOpened) indexMatch(index, match);
      break;
    }
  }
  return Object.assign(index, workOfLeague(league));
}

/** The part of the open work that does not need a pass over the matches. */
function workOfLeague(league: League): Pick<OpenWork, "roundToOpen" | "withdrawals" | "isToPair" | "isToComplete"> {
  const { withdrawals } = league;
  return {
    roundToOpen: roundToOpen(league),
    withdrawals,
    isToPair: canPair(league),
    isToComplete: isPlayed(league),
  };
}

/** The number of the round to open, because all earlier rounds are completed; null if there is none. */
export function roundToOpen({ currentRound, rounds, isPaused }: League): number | null {
  const current = roundOf({ rounds }, currentRound ?? 0);
  return current && !current.isOpened && !isPaused ? current.roundId : null;
}

/** Adds a match of an opened round to the index of its status. */
function indexMatch({ unassigned, assigned }: Pick<Index, "unassigned" | "assigned">, match: Match): void {
  unassigned.delete(match.matchId);
  assigned.delete(match.matchId);
  if (match.status === "scheduled") unassigned.set(match.matchId, match);
  if (match.status === "assigned") assigned.set(match.matchId, match);
}
