import { listSummary } from "#shared/lib/list.ts";
import {
  type FormatMatch,
  type FormatRound,
  type LeagueView,
  type NewRound,
  type Next,
  openMatches,
  pairKey,
} from "./format.ts";

/** Two players that play a series of matches. */
interface Pair {
  readonly players: readonly [first: string, second: string];
  readonly key: string;
}

export const pairOf = (first: string, second: string): Pair => ({
  players: [first, second],
  key: pairKey(first, second),
});

/**
 * Returns a function that keeps the pairs of the players of a view until a player enters or leaves: 1,000 players have 499,500 pairs, and the numbers of
 * their matches are kept with them. `option` is what the pairs depend on besides the players.
 */
export function keepPairs<Option>(
  pairsOf: (view: LeagueView, option: Option) => readonly Pair[],
): (view: LeagueView, option: Option) => readonly Pair[] {
  const keptPairs = new WeakMap<LeagueView["players"], { readonly option: Option; readonly pairs: readonly Pair[] }>();
  return (view, option) => {
    const kept = keptPairs.get(view.players);
    if (kept && kept.option === option) return kept.pairs;
    const pairs = pairsOf(view, option);
    keptPairs.set(view.players, { option, pairs });
    return pairs;
  };
}

/** The matches of a series that are paired together: one for each role of a player, so that they can share an opening. */
const LEGS = 2;

const keyOf = ({ players }: FormatMatch): string => pairKey(players[0] as string, players[1] as string);

/** The number of matches of each pair of players that are paired. Aborted and annulled matches count. */
export function meetingsOf({ rounds }: LeagueView): ReadonlyMap<string, number> {
  const meetings = new Map<string, number>();
  for (const match of rounds.flatMap(({ matches }) => matches)) {
    const key = keyOf(match);
    meetings.set(key, (meetings.get(key) ?? 0) + 1);
  }
  return meetings;
}

/** Returns the numbers of matches of these pairs, as `meetingsOf`. They are valid until the next call. */
type MeetingCounts = (rounds: LeagueView["rounds"]) => Readonly<Float64Array>;

const keptCounts = new WeakMap<readonly Pair[], MeetingCounts>();

function meetingCounts(pairs: readonly Pair[]): MeetingCounts {
  const kept = keptCounts.get(pairs);
  if (kept) return kept;
  const indexes = new Map(pairs.map(({ key }, index) => [key, index]));
  const counts = listSummary<FormatRound, Float64Array>({
    empty: () => new Float64Array(pairs.length),
    add(sum, { matches }, times) {
      for (const match of matches) {
        const index = indexes.get(keyOf(match));
        if (index !== undefined) sum[index] = (sum[index] as number) + times;
      }
    },
  });
  keptCounts.set(pairs, counts);
  return counts;
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
  const played = meetingCounts(pairs)(view.rounds).slice();
  const rounds: NewRound[] = [];
  let paired = 0;
  for (const next of leastPlayed(played)) {
    const count = played[next] as number;
    if (count >= games || paired >= limit) break;
    if (paired >= slots) return rounds.length > 0 ? { rounds } : "wait";
    const legs = Math.min(LEGS, games - count, limit - paired);
    rounds.push({ pairings: legsOf(pairs[next] as Pair, count, legs), byes: [] });
    played[next] = count + legs;
    paired += legs;
  }
  return rounds.length > 0 ? { rounds } : "completed";
}

/** Yields without end the index of the first of the least numbers. The caller raises that number before it asks for the next index. */
function* leastPlayed(played: Readonly<Float64Array>): Generator<number, undefined> {
  while (played.length > 0) {
    const least = played.reduce((one, other) => Math.min(one, other));
    for (let index = played.indexOf(least); index !== -1; index = played.indexOf(least, index + 1)) yield index;
  }
}

/** The next matches of a pair, whose roles alternate. */
const legsOf = ({ players: [first, second] }: Pair, played: number, count: number): NewRound["pairings"] =>
  Array.from({ length: count }, (_, leg) => ((played + leg) % 2 === 0 ? [first, second] : [second, first]));

/** The number of matches of these series that are not completed. */
export function remainingOfSeries(view: LeagueView, pairs: readonly Pair[], games: number): number {
  const unpaired = meetingCounts(pairs)(view.rounds).reduce((sum, count) => sum + Math.max(0, games - count), 0);
  return openMatches(view) + unpaired;
}
