import type { LeagueEvent } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { CANCELLED } from "../league/outcome.ts";

/** The number of matches of a league that are remembered. */
const MAX_MATCHES = 20;
/** The number of matches of each player that are remembered. */
const MAX_FORM = 5;

/** The ids of the matches of a league that were completed last, and of those of each player. It advances with each result. */
export interface RecentMatches {
  /** The matches of the league, the latest first. */
  all(): readonly string[];
  /** The matches of a player, the earliest first. */
  of(playerId: string): readonly string[];
  advance(event: LeagueEvent, playersOf: (matchId: string) => readonly string[]): void;
}

/**
 * Creates the list of a league that has been loaded. The events of the past are not read again: matches of a round count in the order of their
 * numbers.
 */
export function recentMatchesOf(league: League | null): RecentMatches {
  const all: string[] = [];
  const byPlayer = new Map<string, string[]>();
  const add = (matchId: string, players: readonly string[]): void => {
    addTo(all, matchId, MAX_MATCHES);
    for (const playerId of players) {
      const own = byPlayer.get(playerId) ?? [];
      byPlayer.set(playerId, own);
      addTo(own, matchId, MAX_FORM);
    }
  };
  for (const { matches } of league?.rounds ?? []) {
    for (const { matchId, players, outcome } of matches)
      if (outcome && outcome.reason !== CANCELLED) add(matchId, players);
  }
  return {
    all: () => all.toReversed(),
    of: (playerId) => byPlayer.get(playerId) ?? [],
    advance(event, playersOf) {
      if (event.type === "match_completed" || event.type === "match_aborted")
        add(event.match_id, playersOf(event.match_id));
    },
  };
}

/** Adds an id to the end of a list. The list keeps the last ids only. */
function addTo(list: string[], matchId: string, maximum: number): void {
  const known = list.indexOf(matchId);
  if (known >= 0) list.splice(known, 1);
  list.push(matchId);
  if (list.length > maximum) list.shift();
}
