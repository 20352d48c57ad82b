import { counted } from "../lib/text.ts";
import type { CodenamesAction, CodenamesCard, CodenamesView, SkipReason } from "./codenames.ts";

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
