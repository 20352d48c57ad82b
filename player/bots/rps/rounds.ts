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
