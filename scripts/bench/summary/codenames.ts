import type { Round } from "../rates.ts";
import type { Of, Summary, Us } from "./figures.ts";

export function codenamesRows(us: Us, positions: number): Summary["rows"] {
  const note = `in the middle of ${positions} games`;
  return [
    us("n  Codenames, applyAction of a clue", ({ codenames }) => codenames.us.applyClue, note),
    us("n  Codenames, applyAction of a guess", ({ codenames }) => codenames.us.applyGuess, ""),
    us("n  Codenames, legalActions, spymaster", ({ codenames }) => codenames.us.legalClues, "its sample of clues"),
    us("n  Codenames, legalActions, team", ({ codenames }) => codenames.us.legalGuesses, ""),
    us("n  Codenames, viewState", ({ codenames }) => codenames.us.viewState, "a team's"),
    us("o  prompt for a spymaster's clue", ({ codenames }) => codenames.us.promptClue, "its view included, as below"),
    us("o  prompt for a team's guess", ({ codenames }) => codenames.us.promptGuess, ""),
    us("o  prompt for guessing again", ({ codenames }) => codenames.us.promptContinue, ""),
    us("o  form for a spymaster's clue", ({ codenames }) => codenames.us.formClue, ""),
    us("o  form for a team's guess", ({ codenames }) => codenames.us.formGuess, ""),
    us("o  form for guessing again", ({ codenames }) => codenames.us.formContinue, ""),
  ];
}

/** A turn here is a clue and two guesses, every question and every check of it; its moves are listed once each. */
export function codenamesAim(of: Of): Summary["aims"][number] {
  const checked = ({ codenames: { us } }: Round): number =>
    us.applyClue + 2 * us.applyGuess + us.legalClues + 2 * us.legalGuesses + 3 * us.viewState;
  const asked = ({ codenames: { us } }: Round): number => us.promptClue + 2 * us.promptGuess + us.promptContinue;
  const turn = of((round) => checked(round) + asked(round));
  return {
    aim: "o  rules and prompts under 1 ms a turn",
    measured: `${turn.toFixed(0)} µs: ${of(checked).toFixed(0)} for the rules, ${of(asked).toFixed(0)} for four prompts (a clue, two guesses)`,
    isMet: turn < 1_000,
  };
}
