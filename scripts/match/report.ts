import { counted } from "#shared/lib/text.ts";
import { type Interval, type OpenInterval, roundedGames } from "#shared/statistics/elo.ts";
import { hypothesisText, type SprtOptions, sprtText } from "#shared/statistics/sprt.ts";
import { widthOf } from "../run/tables.ts";
import { type Comparison, type Forfeits, type MatchState, namesIn, ratingsOf } from "./comparison.ts";

/** Returns the result of a match as text: tables, forfeits, and the sentence that states the result as the last line. */
export function reportText(title: string, state: MatchState): string {
  const nameOf = namesIn(state);
  const [only] = state.comparisons;
  const tables =
    state.comparisons.length === 1 && only
      ? [pairTable(only, nameOf)]
      : [ratingTable(state, nameOf), pairsTable(state, nameOf)];
  const facts = state.comparisons.flatMap((comparison) => factLines(comparison, nameOf));
  return [
    title,
    ...tables.map((table) => `\n${table}`),
    ...(facts.length > 0 ? ["", ...facts] : []),
    "",
    ...verdicts(state),
  ].join("\n");
}

/** The sentences about each two players. The last one is about the first two players, or about the best two of several. */
function verdicts(state: MatchState): readonly string[] {
  const nameOf = namesIn(state);
  const sentences = state.comparisons.map((comparison) => ({
    comparison,
    text: verdictText(comparison, nameOf, state.test),
  }));
  if (sentences.length <= 1 || state.test) return sentences.map(({ text }) => text);
  const [best, second] = ratingsOf(state).map(({ player }) => player);
  const isTop = ({ comparison: { players } }: (typeof sentences)[number]): boolean =>
    players.includes(best ?? "") && players.includes(second ?? "");
  return sentences
    .filter(isTop)
    .map(({ comparison, text }) =>
      text.startsWith("not decided")
        ? `${nameOf(comparison.players[0])} against ${nameOf(comparison.players[1])}: ${text}`
        : text,
    );
}

function pairTable(comparison: Comparison, nameOf: NameOf): string {
  const { players, wins, draws, losses, strength } = comparison;
  const [first, second] = players.map(nameOf) as [string, string];
  const header = ["", "Won", "Drawn", "Lost", "Points", "Elo", "Likelihood"];
  const rows = [
    [first, wins, draws, losses, percentText(comparison), eloText(comparison), likelihoodText(strength.superiority)],
    [second, losses, draws, wins, percentText(comparison, 1), "", likelihoodText(1 - strength.superiority)],
  ];
  return tableText([header, ...rows.map((row) => row.map(String))]);
}

function ratingTable(state: MatchState, nameOf: NameOf): string {
  const ratings = ratingsOf(state);
  const cells = new Map<string, string>();
  for (const {
    players: [a, b],
    wins,
    draws,
    losses,
  } of state.comparisons) {
    cells.set(`${a} ${b}`, `${wins}-${draws}-${losses}`);
    cells.set(`${b} ${a}`, `${losses}-${draws}-${wins}`);
  }
  const header = ["", "Rating", "", "Points", "Games", ...ratings.map((_, index) => String(index + 1))];
  const rows = ratings.map(({ player, rating, error, points, games }, index) => [
    `${index + 1}. ${nameOf(player)}`,
    rating.toFixed(0),
    `± ${error.toFixed(0)}`,
    games === 0 ? "" : `${((100 * points) / games).toFixed(1)}%`,
    String(games),
    ...ratings.map(({ player: other }) => (other === player ? "*" : (cells.get(`${player} ${other}`) ?? ""))),
  ]);
  return tableText([header, ...rows]);
}

function pairsTable({ comparisons }: MatchState, nameOf: NameOf): string {
  const header = ["", "Won", "Drawn", "Lost", "Points", "Elo", "Likelihood"];
  const rows = comparisons
    .filter(({ games }) => games > 0)
    .map((comparison) => {
      const { players, wins, draws, losses, strength } = comparison;
      const counts = [wins, draws, losses].map(String);
      const values = [percentText(comparison), eloText(comparison), likelihoodText(strength.superiority)];
      return [`${nameOf(players[0])} against ${nameOf(players[1])}`, ...counts, ...values];
    });
  return tableText([header, ...rows]);
}

/** Lines about forfeits, aborted games and the sequential test. */
function factLines(comparison: Comparison, nameOf: NameOf): readonly string[] {
  const { players, forfeits, bothForfeited, aborted, sprt, usesPairs, pairs } = comparison;
  const lines = players.flatMap((player, index) => {
    const text = forfeitText(forfeits[index as 0 | 1]);
    const opponent = nameOf(players[1 - index] as string);
    return text === "" ? [] : [`forfeits of ${nameOf(player)} against ${opponent}, counted as losses: ${text}`];
  });
  if (bothForfeited > 0) lines.push(`not counted: ${counted(bothForfeited, "game")} that both players forfeited`);
  if (aborted > 0) lines.push(`not counted: ${counted(aborted, "game")} that failed without a fault of a player`);
  if (usesPairs) lines.push(`pairs of games with 0, ½, 1, 1½ and 2 points: ${pairs.join(", ")}`);
  if (sprt) lines.push(sprtText(sprt));
  return lines;
}

/** Aligns the columns of a table, the first on the left, the others on the right. */
function tableText(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? "")))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const space = " ".repeat((widths[column] ?? 0) - widthOf(cell));
          return column === 0 ? cell + space : space + cell;
        })
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join("\n");
}

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
      player_id: player,
      name: nameOf(player),
      rating: rounded(rating),
      error: rounded(error),
      games: played,
      points,
    })),
    verdict: verdicts(state).at(-1) ?? null,
  };
}

function pairDocument(comparison: Comparison): object {
  const { players, wins, draws, losses, bothForfeited, aborted, pairs, forfeits, strength, sprt } = comparison;
  return {
    players,
    wins,
    draws,
    losses,
    both_forfeited: bothForfeited,
    aborted,
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

/** The names of players by id. */
type NameOf = (playerId: string) => string;

/**
 * The text `54.1% ± 3.1`, or `100.0% (45 to 100)` if the interval does not have the same width on both sides of the value. `side` is the player whose
 * percentage is shown.
 */
export function percentText({ strength: { percent } }: Comparison, side: 0 | 1 = 0): string {
  const first = percent.value.toFixed(1);
  const value = side === 0 ? first : (100 - Number(first)).toFixed(1);
  if (isSymmetric(percent, 50)) return `${value}% ± ${percent.error.toFixed(1)}`;
  const bounds = side === 0 ? [percent.lower, percent.upper] : [100 - percent.upper, 100 - percent.lower];
  return `${value}% (${bounds.map((bound) => Number(bound.toFixed(1))).join(" to ")})`;
}

/** The text `+12 ± 30`, or `+191 (-35 to +480)` like `percentText`, or `+∞` after a score of 100%. */
export function eloText({ strength: { elo, percent } }: Comparison): string {
  const { lower, value, upper, error } = elo;
  if (value === null) return percent.value > 50 ? "+∞" : "-∞";
  const isBounded = lower !== null && upper !== null && error !== null;
  if (isBounded && isSymmetric({ lower, value, upper, error }, 0)) return `${signed(value)} ± ${error.toFixed(0)}`;
  return `${signed(value)} (${lower === null ? "-∞" : signed(lower)} to ${upper === null ? "+∞" : signed(upper)})`;
}

/** Whether `value ± error` is close to the interval and lies on the same side of `equal`, the value of equal players. */
function isSymmetric({ lower, value, upper, error }: Interval, equal: number): boolean {
  const isClose = (bound: number, shown: number): boolean =>
    Math.abs(bound - shown) <= error / 10 && bound > equal === shown > equal;
  return isClose(lower, value - error) && isClose(upper, value + error);
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${(Math.round(value) || 0).toFixed(0)}`;

/** The likelihood that a player is stronger, as a percentage. It is never 0% or 100%, because no number of games proves it. */
export function likelihoodText(superiority: number): string {
  const percent = superiority * 100;
  if (percent > 99.95) return "> 99.9%";
  return percent < 0.05 ? "< 0.1%" : `${percent.toFixed(1)}%`;
}

/** The text `2 timeout, 1 illegal_move`; empty without forfeits. */
export const forfeitText = (forfeits: Forfeits): string =>
  Object.entries(forfeits)
    .map(([cause, count]) => `${count} ${cause}`)
    .join(", ");

/** The sentence that states the result of a comparison. */
export function verdictText(comparison: Comparison, nameOf: NameOf, test: SprtOptions | null): string {
  const { strength, players, sprt, games, gamesNeeded } = comparison;
  const [first, second] = players.map(nameOf) as [string, string];
  if (games === 0) return "not decided: no game counts";
  const likelihood = (side: 0 | 1): string =>
    `likelihood ${likelihoodText(side === 0 ? strength.superiority : 1 - strength.superiority)}`;
  if (sprt && test && sprt.state !== "continue") {
    return `${sprt.state} accepted: ${hypothesisText(sprt.state, test, first, second)}: ${percentText(comparison)} (${likelihood(0)})`;
  }
  if (!sprt && strength.isSignificant) {
    const side = strength.percent.value > 50 ? 0 : 1;
    const [better, worse] = side === 0 ? [first, second] : [second, first];
    return `${better} is better than ${worse}: ${percentText(comparison, side)} (${likelihood(side)})`;
  }
  const needed =
    gamesNeeded === null
      ? "the score is too close to 50% to estimate how many more games are needed"
      : `about ${counted(roundedGames(gamesNeeded), "more game is", "more games are")} needed`;
  return `not decided yet: ${needed}`;
}
