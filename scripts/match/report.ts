import { counted } from "#shared/lib/text.ts";
import { sprtText } from "#shared/statistics/sprt.ts";
import { widthOf } from "../run/tables.ts";
import { type MatchState, namesIn, ratingsOf } from "./result.ts";
import type { Comparison } from "./score.ts";
import { eloText, forfeitText, likelihoodText, type NameOf, percentText, verdictText } from "./texts.ts";

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
export function verdicts(state: MatchState): readonly string[] {
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
