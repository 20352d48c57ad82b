import type { Round } from "../rates.ts";
import type { MedianOf, MicrosecondsRow, Summary } from "./figures.ts";

/** The rows of the rules and prompts of Codenames. */
export function codenamesRows(microsecondsRow: MicrosecondsRow, positions: number): Summary["rows"] {
  const note = `in the middle of ${positions} games`;
  return [
    microsecondsRow("n  Codenames, applyAction of a clue", ({ codenames }) => codenames.microseconds.applyClue, note),
    microsecondsRow("n  Codenames, applyAction of a guess", ({ codenames }) => codenames.microseconds.applyGuess, ""),
    microsecondsRow(
      "n  Codenames, legalActions, spymaster",
      ({ codenames }) => codenames.microseconds.legalClues,
      "a sample of clues",
    ),
    microsecondsRow("n  Codenames, legalActions, team", ({ codenames }) => codenames.microseconds.legalGuesses, ""),
    microsecondsRow(
      "n  Codenames, viewState",
      ({ codenames }) => codenames.microseconds.viewState,
      "the view of a team",
    ),
    microsecondsRow(
      "o  prompt for a spymaster's clue",
      ({ codenames }) => codenames.microseconds.promptClue,
      "includes viewState, as in the rows below",
    ),
    microsecondsRow("o  prompt for a team's guess", ({ codenames }) => codenames.microseconds.promptGuess, ""),
    microsecondsRow("o  prompt for guessing again", ({ codenames }) => codenames.microseconds.promptContinue, ""),
    microsecondsRow("o  form for a spymaster's clue", ({ codenames }) => codenames.microseconds.formClue, ""),
    microsecondsRow("o  form for a team's guess", ({ codenames }) => codenames.microseconds.formGuess, ""),
    microsecondsRow("o  form for guessing again", ({ codenames }) => codenames.microseconds.formContinue, ""),
  ];
}

/** The aim for a turn of a clue and two guesses, with all prompts and checks. The legal actions of each step are listed once. */
export function codenamesAim(medianOf: MedianOf): Summary["aims"][number] {
  const checked = ({ codenames: { microseconds } }: Round): number =>
    microseconds.applyClue +
    2 * microseconds.applyGuess +
    microseconds.legalClues +
    2 * microseconds.legalGuesses +
    3 * microseconds.viewState;
  const prompted = ({ codenames: { microseconds } }: Round): number =>
    microseconds.promptClue + 2 * microseconds.promptGuess + microseconds.promptContinue;
  const turn = medianOf((round) => checked(round) + prompted(round));
  return {
    aim: "o  rules and prompts under 1 ms a turn",
    measured: `${turn.toFixed(0)} µs: ${medianOf(checked).toFixed(0)} for the rules, ${medianOf(prompted).toFixed(0)} for four prompts (a clue, two guesses)`,
    isMet: turn < 1_000,
  };
}
