import type { RpsAction, RpsView } from "#shared/games/rps.ts";

export const CHOICES: readonly RpsAction[] = ["rock", "paper", "scissors"];

/** The action that wins against an action. */
export const BEATEN_BY: Readonly<Record<RpsAction, RpsAction>> = { rock: "paper", paper: "scissors", scissors: "rock" };

export interface PlayedRound {
  readonly own: RpsAction;
  readonly theirs: RpsAction;
}

/** Returns the closed rounds of a match, oldest first, as a role sees them. */
export function closedRounds({ series }: RpsView, role: string): readonly PlayedRound[] {
  const [own, theirs] = role === "player_1" ? (["player_1", "player_2"] as const) : (["player_2", "player_1"] as const);
  return (series?.previous_rounds ?? []).map(({ choices }) => ({ own: choices[own], theirs: choices[theirs] }));
}

/**
 * Returns what followed the longest earlier sequence that equals the end of `history`: the item of `values` at the index after it. The most recent of
 * equally long sequences counts. Null if not even the last item has occurred before. Both lists have the same length.
 */
export function afterLongestRepetition<T>(history: readonly string[], values: readonly T[]): T | null {
  let best: T | null = null;
  let longest = 0;
  for (let next = history.length - 1; next > longest; next--) {
    let length = 0;
    while (length < next && history[next - 1 - length] === history[history.length - 1 - length]) length++;
    if (length > longest) [longest, best] = [length, values[next] as T];
  }
  return best;
}
