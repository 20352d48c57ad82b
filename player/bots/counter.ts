import { findGame } from "#shared/games/registry.ts";
import type { Bot, Turn } from "../sdk.ts";

/** Chess moves evaluated per turn. The limit is a number and not a time, so that a run can be repeated with its seed. */
const CANDIDATES = 3;
const BEATEN_BY: Readonly<Record<string, string>> = { rock: "paper", paper: "scissors", scissors: "rock" };

/**
 * Expects the opponent to repeat its most frequent choice of this match, and chooses an action that wins against it.
 * In chess it compares a few random moves and plays the one that leaves the opponent the fewest replies. In other games without
 * sealed choices it plays a random legal action.
 */
export default ((turn) => {
  if (turn.game === "chess.v1") return fewestReplies(turn as Turn<"chess.v1">);
  const hasRounds = turn.game === "rps.v1" || turn.game === "even_odd.v1";
  const expected = hasRounds ? mostFrequent(otherChoices(turn.view, turn.role)) : undefined;
  if (expected === undefined) return turn.random.pick<unknown>(turn.legal);
  if (turn.game === "rps.v1") return BEATEN_BY[String(expected)];
  return turn.random.pick<unknown>(winningNumbers(turn as Turn<"even_odd.v1">, expected));
}) satisfies Bot;

/** The choices of the other role in the completed rounds. */
function otherChoices(view: unknown, role: string): readonly unknown[] {
  const { previous_rounds, series } = view as { previous_rounds?: unknown; series?: { previous_rounds?: unknown } };
  const rounds = (series?.previous_rounds ?? previous_rounds ?? []) as { choices: Record<string, unknown> }[];
  return rounds.flatMap(({ choices }) =>
    Object.entries(choices).flatMap(([player, choice]) => (player === role ? [] : [choice])),
  );
}

function mostFrequent(choices: readonly unknown[]): unknown {
  const counts = new Map<unknown, number>();
  for (const choice of choices) counts.set(choice, (counts.get(choice) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** The numbers that give the sum our parity; all numbers if no number does, as in the variant with a drawn number. */
function winningNumbers({ legal, role }: Turn<"even_odd.v1">, expected: unknown): readonly unknown[] {
  const parity = role === "ODD" ? 1 : 0;
  const winning = legal.filter((choice) => (Number(choice) + Number(expected)) % 2 === parity);
  return winning.length > 0 ? winning : legal;
}

function fewestReplies({ view, legal, role, random }: Turn<"chess.v1">): string {
  const chess = findGame("chess.v1");
  const start = chess?.initialState({ options: { fen: view.fen }, seed: "" });
  const other = role === "white" ? "black" : "white";
  let best: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (const move of random.shuffle(legal).slice(0, CANDIDATES)) {
    const next = chess?.applyAction(start, role, move);
    if (!chess || !next?.ok) continue;
    const after = next.value as typeof view;
    const isDraw = after.outcome !== null && after.outcome.winner === null;
    const replies = isDraw ? 1_000 : chess.legalActions(next.value, other).length;
    if (replies < fewest) [best, fewest] = [[], replies];
    if (replies === fewest) best.push(move);
  }
  return random.pick(best);
}
