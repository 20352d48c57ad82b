import { type RatingTable, ratingTable } from "#shared/statistics/rating-table.ts";
import type { BotVersion, RunMatch } from "./rated-matches.ts";

/** The ratings of one game over several runs, as `league ratings --json` prints them. */
export interface GameRatings {
  readonly game: string;
  /** The number of runs with matches of the game. */
  readonly runs: number;
  /** The number of these runs with the seed of another one. Deterministic bots repeat their matches in them, so that the intervals are too narrow. */
  readonly runs_with_equal_seed: number;
  readonly model: RatingTable["model"];
  /** The number of rated matches. */
  readonly matches: number;
  /** Each version of a bot, the strongest first. */
  readonly players: readonly (BotVersion & {
    readonly rating: number;
    /** Half of the width of the 95% interval. */
    readonly error: number;
    readonly matches: number;
    readonly percent: number | null;
    /** The times of its first and last recorded match; null if they are not known. */
    readonly first_at: string | null;
    readonly last_at: string | null;
  })[];
  readonly comparisons: readonly {
    /** The version with the higher rating. */
    readonly player: BotVersion;
    readonly other: BotVersion;
    readonly difference: number;
    readonly error: number;
    readonly likelihood: number;
    readonly significant: boolean;
  }[];
}

/** Returns the ratings of each game in the order of the ids. A match that is in several folders counts once. */
export async function ratingsOverRuns(matches: readonly RunMatch[]): Promise<readonly GameRatings[]> {
  const byKey = new Map(matches.map((match) => [JSON.stringify([match.runId, match.leagueId, match.matchId]), match]));
  const byGame = Map.groupBy([...byKey.values()], ({ game }) => game);
  const games = [...byGame].sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(games.map(([game, ofGame]) => ratingsOfGame(game, ofGame)));
}

async function ratingsOfGame(game: string, matches: readonly RunMatch[]): Promise<GameRatings> {
  // The ratings of teams depend on the order of the matches.
  const ordered = matches.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const versions = new Map<string, BotVersion>();
  const times = new Map<string, { readonly first: string; readonly last: string }>();
  const rated = ordered.map(({ players, points, at }) => {
    const keys = players.map((version) => {
      const key = JSON.stringify([version.name, version.bot_hash]);
      versions.set(key, version);
      if (at !== "") times.set(key, { first: times.get(key)?.first ?? at, last: at });
      return key;
    });
    return { players: keys, points };
  });
  const table = await ratingTable([...versions.keys()], rated, ordered[0]?.teams);
  const runs = new Set(matches.map(({ runId }) => runId)).size;
  const seeds = new Map(matches.map(({ runId, leagueId, seedCommitment }) => [runId, `${leagueId} ${seedCommitment}`]));
  const versionOf = (key: string): BotVersion => versions.get(key) ?? { name: key, bot_hash: null };
  return {
    game,
    runs,
    runs_with_equal_seed: runs - new Set(seeds.values()).size,
    model: table.model,
    matches: table.matches,
    players: table.rows.map(({ player, ...row }) => ({
      ...versionOf(player),
      ...row,
      first_at: times.get(player)?.first ?? null,
      last_at: times.get(player)?.last ?? null,
    })),
    comparisons: table.comparisons.map(({ player, other, isSignificant, ...comparison }) => ({
      player: versionOf(player),
      other: versionOf(other),
      ...comparison,
      significant: isSignificant,
    })),
  };
}
