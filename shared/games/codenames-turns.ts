/** The turns of Codenames: clue, guesses, end. */
import { err, ok } from "../lib/result.ts";
import {
  type Clue,
  type CodenamesState,
  type CodenamesTurn,
  type CodenamesView,
  TEAMS,
  type Team,
} from "./codenames-view.ts";
import type { Role } from "./game.ts";
import { clueFault, fold } from "./words/codenames-clues.ts";

/** The number of turns after which a game ends as a draw. */
export const MAX_TURNS = 60;

export const otherTeam = (team: Team): Team => (team === "red" ? "blue" : "red");
/** Returns the role whose action is expected. */
export const roleToAct = ({ turn, phase }: CodenamesView): Role => `${turn}_${phase === "clue" ? "spymaster" : "team"}`;
/** Returns whether the team has guessed in the current turn. */
export const hasGuessed = ({ turns }: CodenamesView): boolean => (turns.at(-1)?.guesses.length ?? 0) > 0;
/** Returns the words of the cards that have not been guessed. */
export const covered = ({ cards }: CodenamesView): string[] =>
  cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word]));

const remainingIn = (cards: CodenamesState["cards"]): Record<Team, number> => {
  const countOf = (team: Team) => cards.filter(({ identity, uncovered }) => identity === team && !uncovered).length;
  return { red: countOf("red"), blue: countOf("blue") };
};

/** Returns the fields of a state at the beginning of a team's turn. */
export function beginTurn(cards: CodenamesState["cards"], team: Team, before: readonly CodenamesTurn[]) {
  const turns = [...before, { team, clue: null, guesses: [], skipped: null }];
  return { remaining: remainingIn(cards), turn: team, phase: "clue" as const, guesses_left: null, turns };
}

/** Returns the state with changed fields of the current turn. */
export const withCurrentTurn = (state: CodenamesState, changes: Partial<CodenamesTurn>): CodenamesState => {
  const current = state.turns.at(-1) as CodenamesTurn;
  return { ...state, turns: [...state.turns.slice(0, -1), { ...current, ...changes }] };
};

/** Returns the state after the end of a turn: the other team's turn, or a draw if the turn limit is reached. */
export function endTurn(state: CodenamesState): CodenamesState {
  if (state.turns.length >= MAX_TURNS) return endGame(state, null, "turn_limit");
  return { ...state, ...beginTurn(state.cards, otherTeam(state.turn), state.turns) };
}

const endGame = (
  state: CodenamesState,
  winner: Team | null,
  reason: NonNullable<CodenamesView["result"]>["reason"],
): CodenamesState => ({ ...state, phase: "over", guesses_left: null, result: { winner, reason } });

/** Returns the state after a clue, or an error if the clue is not legal. */
export function giveClue(state: CodenamesState, { word, number }: Clue) {
  const fault = clueFault(word, covered(state), state.clue_rule ?? 1);
  if (fault !== null) return err({ message: fault });
  const isLimited = typeof number === "number" && number > 0;
  const next = withCurrentTurn(state, { clue: { word, number } });
  return ok<CodenamesState>({ ...next, phase: "guess", guesses_left: isLimited ? number + 1 : null });
}

/** Returns the state after a guess, or an error if no covered card has the word. */
export function guess(state: CodenamesState, word: string) {
  const index = state.cards.findIndex((card) => !card.uncovered && fold(card.word) === fold(word));
  const card = state.cards[index];
  if (!card) return err({ message: "that word is not on the board, or it has been guessed" });
  const cards = state.cards.with(index, { ...card, uncovered: true });
  const guesses = [...(state.turns.at(-1)?.guesses ?? []), { word: card.word, identity: card.identity }];
  const next = withCurrentTurn({ ...state, cards, remaining: remainingIn(cards) }, { guesses });
  if (card.identity === "assassin") return ok(endGame(next, otherTeam(state.turn), "assassin"));
  const winner = TEAMS.find((team) => next.remaining[team] === 0);
  if (winner) return ok(endGame(next, winner, "agents_found"));
  const guessesLeft = state.guesses_left === null ? null : state.guesses_left - 1;
  return ok(card.identity === state.turn && guessesLeft !== 0 ? { ...next, guesses_left: guessesLeft } : endTurn(next));
}
