/** What players and pages see of Codenames, and its texts. Pages load this file, so it imports no rules. */

import { counted } from "#shared/lib/text.ts";
import type { ClueRule } from "./codenames-clues.ts";

export const TEAMS = ["red", "blue"] as const;

export type Team = (typeof TEAMS)[number];
export type Identity = Team | "neutral" | "assassin";

export interface CodenamesCard {
  readonly word: string;
  /** The identity; null for a team and a spectator while the card is covered. */
  readonly identity: Identity | null;
  /** Whether the card has been guessed, so that every viewer sees its identity. */
  readonly uncovered: boolean;
}

export interface Clue {
  readonly word: string;
  readonly number: number | "unlimited";
}

/** A turn: its clue, null if the spymaster has given none, and its guesses. */
export interface CodenamesTurn {
  readonly team: Team;
  readonly clue: Clue | null;
  readonly guesses: readonly { readonly word: string; readonly identity: Identity }[];
  /** The reason why the clue or the guesses of the turn were given up; null if they were not. */
  readonly skipped: SkipReason | null;
}

export interface CodenamesView {
  /** Five rows of five cards, row by row. */
  readonly cards: readonly CodenamesCard[];
  /** The number of agents that each team must still find. */
  readonly remaining: Readonly<Record<Team, number>>;
  readonly turn: Team;
  readonly phase: "clue" | "guess" | "over";
  /** The number of guesses left in this turn; null if there is no limit and outside the guess phase. */
  readonly guesses_left: number | null;
  /** All turns; the current one is last. */
  readonly turns: readonly CodenamesTurn[];
  readonly result: { readonly winner: Team | null; readonly reason: "agents_found" | "assassin" | "turn_limit" } | null;
  /** The version of the rule for clues; absent for version 1, which earlier sessions have. */
  readonly clue_rule?: ClueRule;
}

/** A view with all identities. */
export interface CodenamesState extends CodenamesView {
  readonly cards: readonly (CodenamesCard & { readonly identity: Identity })[];
}

/**
 * The reasons for giving up the clue or the guesses of a turn. All players see the reason, so a player cannot choose
 * its text: a spymaster could say in it what a clue may not say.
 */
export const skipReasons = ["no_answer", "not_as_asked", "illegal_clue", "illegal_guess", "form_left"] as const;
export type SkipReason = (typeof skipReasons)[number];

export type CodenamesAction =
  | { readonly type: "clue"; readonly word: string; readonly number: number | "unlimited" }
  | { readonly type: "guess"; readonly word: string }
  | { readonly type: "pass" }
  | { readonly type: "skip"; readonly reason: SkipReason };

/** The reasons for giving up a turn, for people. */
export const skipInWords: Readonly<Record<SkipReason, string>> = {
  no_answer: "no answer",
  not_as_asked: "its answers did not have the requested form",
  illegal_clue: "its clues were not legal",
  illegal_guess: "its guesses were not on the board",
  form_left: "the form was closed without an answer",
};

/** Returns an action as text, as `readAction` of the game reads it. */
export function actionText(action: CodenamesAction): string {
  switch (action.type) {
    case "clue":
      return `${action.word} ${action.number}`;
    case "guess":
      return action.word;
    case "pass":
      return "pass";
    case "skip":
      return `gives up the turn (${skipInWords[action.reason]})`;
  }
}

/** Returns the board of a view as text, followed by the current turn or the end of the game. */
export function textOf({ cards, remaining, turns, ...view }: CodenamesView): string {
  const mark = ({ word, identity, uncovered }: CodenamesCard): string =>
    uncovered ? `[${word}: ${identity}]` : identity !== null ? `${word} (${identity})` : word;
  const width = Math.max(...cards.map((card) => mark(card).length));
  const rows = Array.from({ length: 5 }, (_, row) =>
    cards
      .slice(5 * row, 5 * row + 5)
      .map((card) => mark(card).padEnd(width))
      .join("  ")
      .trimEnd(),
  );
  const clue = turns.at(-1)?.clue;
  const guessesLeft = view.guesses_left === null ? "" : `, ${counted(view.guesses_left, "guess", "guesses")} left`;
  const status = {
    clue: `${view.turn}'s spymaster gives a clue.`,
    guess: `${view.turn} guesses for ${clue?.word} ${clue?.number}${guessesLeft}.`,
    over: `The game is over: ${view.result && endInWords(view.result)}.`,
  }[view.phase];
  return [...rows, "", `Agents to find: red ${remaining.red}, blue ${remaining.blue}.`, status].join("\n");
}

/** Returns how a game ended, for people. */
export function endInWords({ winner, reason }: NonNullable<CodenamesView["result"]>): string {
  if (winner === null) return "no team wins, because the turn limit is reached";
  const other = winner === "red" ? "blue" : "red";
  const why = reason === "assassin" ? `team ${other} guessed the assassin` : "all its agents are found";
  return `team ${winner} wins, because ${why}`;
}
