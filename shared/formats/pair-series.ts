import { listSummary } from "#shared/lib/list-summary.ts";
import type { FormatRound, LeagueView, NewRound, Next } from "./format.ts";
import { openMatches, pairKey } from "./view.ts";

/** Two players that play a series of matches. */
export interface Pair {
  readonly players: readonly [first: string, second: string];
  readonly key: string;
}

export const pairOf = (first: string, second: string): Pair => ({
  players: [first, second],
  key: pairKey(first, second),
});

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
  const played = pairs.map(({ key }) => meetings.get(key) ?? 0);
  const rounds: NewRound[] = [];
  for (let paired = 0; ; ) {
    const next = indexOfLeast(played);
    const count = played[next] ?? games;
    if (count >= games || paired >= limit) return rounds.length > 0 ? { rounds } : "completed";
    if (paired >= slots) return rounds.length > 0 ? { rounds } : "wait";
    const legs = Math.min(LEGS, games - count, limit - paired);
    rounds.push({ pairings: legsOf(pairs[next] as Pair, count, legs), byes: [] });
    played[next] = count + legs;
    paired += legs;
  }
}

/** The index of the first of the least numbers; 0 if there are none. */
const indexOfLeast = (numbers: readonly number[]): number =>
  numbers.reduce((least, value, index) => (value < (numbers[least] as number) ? index : least), 0);

/** The next matches of a pair, whose roles alternate. */
const legsOf = ({ players: [first, second] }: Pair, played: number, count: number): NewRound["pairings"] =>
  Array.from({ length: count }, (_, leg) => ((played + leg) % 2 === 0 ? [first, second] : [second, first]));

/** The number of matches of these series that are not completed. */
export function remainingOfSeries(view: LeagueView, pairs: readonly Pair[], games: number): number {
  const meetings = keptMeetings(view.rounds);
  const unpaired = pairs.reduce((sum, { key }) => sum + Math.max(0, games - (meetings.get(key) ?? 0)), 0);
  return openMatches(view) + unpaired;
}
