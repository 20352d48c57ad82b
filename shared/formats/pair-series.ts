import { listSummary } from "#shared/lib/list-summary.ts";
import type { FormatRound, LeagueView, NewRound, Next } from "./format.ts";
import { openMatches, pairKey } from "./view.ts";

/** Two players that play a series of matches. */
export type Pair = readonly [first: string, second: string];

/** The matches of a series that are paired together: one for each role of a player, so that they can share an opening. */
const LEGS = 2;

type Meetings = Map<string, number>;

function addMeetings(meetings: Meetings, { matches }: FormatRound, times: 1 | -1): void {
  for (const { players } of matches) {
    const key = pairKey(players[0] as string, players[1] as string);
    meetings.set(key, (meetings.get(key) ?? 0) + times);
  }
}

const keptMeetings = listSummary<FormatRound, Meetings>({ empty: () => new Map(), add: addMeetings });

/** The number of matches of each pair of players that are paired. Aborted and annulled matches count. */
export function meetingsOf({ rounds }: LeagueView): ReadonlyMap<string, number> {
  const meetings: Meetings = new Map();
  for (const round of rounds) addMeetings(meetings, round, 1);
  return meetings;
}

/** The length of series: the number of matches of each pair, and of all pairs together. */
interface SeriesLength {
  readonly games?: number;
  readonly limit?: number;
}

/**
 * Continues the series of these pairs. A round has the two next matches of one pair, with swapped roles; the last round of a series of an odd number
 * of matches has one. The pair with the fewest matches is next. Rounds are added while slots are free.
 */
export function nextOfSeries(view: LeagueView, pairs: readonly Pair[], length: SeriesLength, slots: number): Next {
  const { games = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = length;
  const meetings = keptMeetings(view.rounds);
  const series = pairs.map((pair) => ({ pair, played: meetings.get(pairKey(...pair)) ?? 0 }));
  const rounds: NewRound[] = [];
  for (let paired = 0; ; ) {
    const [first, ...others] = series.filter(({ played }) => played < games);
    if (first === undefined || paired >= limit) return rounds.length > 0 ? { rounds } : "completed";
    if (paired >= slots) return rounds.length > 0 ? { rounds } : "wait";
    const next = others.reduce((least, one) => (one.played < least.played ? one : least), first);
    const legs = Math.min(LEGS, games - next.played, limit - paired);
    rounds.push({ pairings: legsOf(next.pair, next.played, legs), byes: [] });
    next.played += legs;
    paired += legs;
  }
}

/** The next matches of a pair, whose roles alternate. */
const legsOf = (pair: Pair, played: number, count: number): readonly Pair[] =>
  Array.from({ length: count }, (_, leg) => ((played + leg) % 2 === 0 ? pair : [pair[1], pair[0]]));

/** The number of matches of these series that are not completed. */
export function remainingOfSeries(view: LeagueView, pairs: readonly Pair[], games: number): number {
  const meetings = keptMeetings(view.rounds);
  const unpaired = pairs.map((pair) => Math.max(0, games - (meetings.get(pairKey(...pair)) ?? 0)));
  return openMatches(view) + unpaired.reduce((sum, count) => sum + count, 0);
}
