import type { PlayerRef } from "../documents/league.ts";
import type { Mark } from "../documents/player.ts";

/** The results of matches as one letter, and as a text that is read aloud. */
export const MARKS: Readonly<Record<Mark, { readonly letter: string; readonly text: string }>> = {
  win: { letter: "W", text: "won" },
  draw: { letter: "D", text: "drawn" },
  loss: { letter: "L", text: "lost" },
  none: { letter: "–", text: "not counted" },
};

/** The names of players, for a text that is read aloud. */
export const namesOf = (players: readonly PlayerRef[]): string => players.map(({ name }) => name).join(", ");
