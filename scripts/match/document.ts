import type { Interval, OpenInterval } from "#shared/statistics/elo.ts";
import { verdicts } from "./report.ts";
import { type MatchState, namesIn, ratingsOf } from "./result.ts";
import type { Comparison } from "./score.ts";
import { verdictText } from "./texts.ts";

/** The facts of a run that the games do not contain. */
interface MatchFacts {
  readonly game: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly seed: string;
  readonly mode: "local" | "wire";
  readonly status: "completed" | "interrupted";
}

/** The document of `league match --json` (docs/comparing.md). It has no times, so equal games give equal documents. */
export function matchDocument(state: MatchState, facts: MatchFacts): object {
  const { players, comparisons, games, test } = state;
  const nameOf = namesIn(state);
  return {
    version: 1,
    ...facts,
    games: { completed: games.completed, planned: games.total },
    players: players.map(({ playerId, name, bot }) => ({ player_id: playerId, name, bot })),
    sprt: test,
    pairs: comparisons.map((comparison) => ({
      ...pairDocument(comparison),
      verdict: verdictText(comparison, nameOf, test),
    })),
    ratings: ratingsOf(state).map(({ player, rating, error, games: played, points }) => ({
      ...{ player_id: player, name: nameOf(player), rating: rounded(rating), error: rounded(error) },
      ...{ games: played, points },
    })),
    verdict: verdicts(state).at(-1) ?? null,
  };
}

function pairDocument(comparison: Comparison): object {
  const { players, wins, draws, losses, bothForfeited, aborted, pairs, forfeits, strength, sprt } = comparison;
  return {
    players,
    ...{ wins, draws, losses, both_forfeited: bothForfeited, aborted },
    forfeits: { [players[0]]: forfeits[0], [players[1]]: forfeits[1] },
    /** Pairs of games with 0, ½, 1, 1½ and 2 points of the first player; null if the statistics count single games. */
    pairs: comparison.usesPairs ? pairs : null,
    percent: intervalDocument(strength.percent),
    elo: intervalDocument(strength.elo),
    superiority: rounded(strength.superiority, 6),
    is_significant: strength.isSignificant,
    sprt: sprt && {
      state: sprt.state,
      llr: rounded(sprt.llr, 4),
      lower: rounded(sprt.lower, 4),
      upper: rounded(sprt.upper, 4),
    },
    games_needed: comparison.gamesNeeded,
  };
}

/** An infinite bound is null. */
const intervalDocument = ({ lower, value, upper, error }: Interval | OpenInterval): object => ({
  value: rounded(value),
  lower: rounded(lower),
  upper: rounded(upper),
  error: rounded(error),
});

const rounded = <T extends number | null>(value: T, digits = 3): T =>
  (value === null ? null : Number((value as number).toFixed(digits))) as T;
