import type { Standing } from "#shared/standings/standings.ts";
import type { PointsDocument } from "#shared/web/league-documents.ts";
import { opensAtOnce } from "../../league/format-view.ts";
import type { League, Round } from "../../league/league.ts";
import { openedRounds, standingsRules } from "../../league/standings-of.ts";
import { type DocumentContext, type DocumentKind, type DocumentRequest, headerOf, perRound } from "./document.ts";

/** The maximum number of players with a line, without those that the request names. */
const MAX_SERIES = 60;
const MAX_REQUESTED = 20;
/** The maximum number of positions of a line. A longer league has evenly spaced ones, and those at which shorter lines end. */
const MAX_POSITIONS = 120;

export const points = {
  page: "points",
  path: "points",
  title: ({ league }: PointsDocument) => `Points – ${league.league_id}`,
  read: pointsDocument,
} satisfies DocumentKind;

/** Returns the points of the first players, and of those that the request names, over the rounds or over their matches. */
function pointsDocument(context: DocumentContext, { league, query }: DocumentRequest): PointsDocument {
  const all = context.views.projections.standings(league);
  const requested = (query.get("players") ?? "").split(",").slice(0, MAX_REQUESTED);
  const shown = all.filter(({ player_id }, index) => index < MAX_SERIES || requested.includes(player_id));
  const isByMatches = opensAtOnce(league);
  const lines = isByMatches ? overMatches(league, shown) : overRounds(league, shown);
  const positions = positionsOf(lines.map(({ length }) => length));
  return {
    league: headerOf(context, league),
    unit: isByMatches ? "matches" : "rounds",
    positions,
    series: shown.map(({ player_id, display_name, rank, points }, index) => ({
      player_id,
      name: display_name,
      rank,
      points,
      values: valuesAt(positions, lines[index] ?? [0]),
    })),
    total: all.length,
  };
}

/** Returns the points after each round from 0. Points of a round that is played count as soon as its matches are completed. */
function overRounds(league: League, players: readonly Standing[]): readonly (readonly number[])[] {
  const { byePoints } = standingsRules(league);
  const lines = players.map(() => [0]);
  for (const round of openedRounds(league)) {
    if (round.matches.length > 0 && round.open === round.matches.length) continue;
    const gained = gainsOf(round);
    const byes = new Set(round.byes);
    for (const [index, { player_id }] of players.entries()) {
      const sum = (gained.get(player_id) ?? []).reduce((total, one) => total + one, 0);
      lines[index]?.push((lines[index]?.at(-1) ?? 0) + sum + (byes.has(player_id) ? byePoints : 0));
    }
  }
  return lines;
}

/** Returns the points of each player after each of its matches, from 0. */
function overMatches(league: League, players: readonly Standing[]): readonly (readonly number[])[] {
  const lines = new Map(players.map(({ player_id }) => [player_id, [0]]));
  for (const round of openedRounds(league))
    for (const [player, gains] of gainsOf(round)) {
      const line = lines.get(player);
      for (const gain of gains) line?.push((line.at(-1) ?? 0) + gain);
    }
  return [...lines.values()];
}

/** The points of the matches of a round by player. */
const gainsOf = perRound(({ matches }: Round): ReadonlyMap<string, readonly number[]> => {
  const gains = new Map<string, number[]>();
  for (const { players, outcome } of matches)
    for (const [seat, value] of (outcome?.points ?? []).entries()) {
      const player = players[seat] as string;
      const list = gains.get(player);
      if (list) list.push(value);
      else gains.set(player, [value]);
    }
  return gains;
});

/** Returns the positions of lines of these lengths. Each line has its last value at one of them. */
function positionsOf(lengths: readonly number[]): readonly number[] {
  const longest = lengths.reduce((one, other) => Math.max(one, other), 1);
  const ends = lengths.map((length) => length - 1);
  return [...new Set([...spaced(longest), ...ends])].toSorted((one, other) => one - other);
}

/** Returns at most MAX_POSITIONS evenly spaced indexes below `length`, with the first and the last. */
function spaced(length: number): readonly number[] {
  const count = Math.min(length, MAX_POSITIONS);
  if (count === 1) return [0];
  return Array.from({ length: count }, (_, index) => Math.round((index * (length - 1)) / (count - 1)));
}

/** Returns the values of a line at these positions; a shorter line ends with its last value. */
function valuesAt(positions: readonly number[], line: readonly number[]): readonly number[] {
  const reached = positions.filter((position) => position < line.length);
  return reached.map((position) => line[position] as number);
}
