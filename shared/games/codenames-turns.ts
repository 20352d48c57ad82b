/** The turns of Codenames: clue, guesses, end. */
import { err, ok } from "../lib/result.ts";
import type { Clue, CodenamesState, CodenamesTurn, CodenamesView, Team } from "./codenames.ts";
import type { Role } from "./game.ts";
import { clueFault, fold } from "./words/codenames-clues.ts";

export const TEAMS = ["red", "blue"] as const;
/** The limit after which a game ends as a draw. */
export const MAX_TURNS = 60;

export const otherTeam = (team: Team): Team => (team === "red" ? "blue" : "red");
export const roleToAct = ({ turn, phase }: CodenamesView): Role => `${turn}_${phase === "clue" ? "spymaster" : "team"}`;
export const hasGuessed = ({ turns }: CodenamesView): boolean => (turns.at(-1)?.guesses.length ?? 0) > 0;
/** The words of the cards that have not been guessed. */
export const covered = ({ cards }: CodenamesView): string[] =>
  cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word]));

const remainingIn = (cards: CodenamesState["cards"]): Record<Team, number> => {
  const left = (team: Team) => cards.filter(({ identity, uncovered }) => identity === team && !uncovered).length;
  return { red: left("red"), blue: left("blue") };
};

export function beginTurn(cards: CodenamesState["cards"], team: Team, before: readonly CodenamesTurn[]) {
  const turns = [...before, { team, clue: null, guesses: [], skipped: null }];
  return { remaining: remainingIn(cards), turn: team, phase: "clue" as const, guesses_left: null, turns };
}

/** Adds facts to the open turn. */
export const noted = (state: CodenamesState, more: Partial<CodenamesTurn>): CodenamesState => {
  const open = state.turns.at(-1) as CodenamesTurn;
  return { ...state, turns: [...state.turns.slice(0, -1), { ...open, ...more }] };
};

export function endTurn(state: CodenamesState): CodenamesState {
  if (state.turns.length >= MAX_TURNS) return over(state, null, "turn_limit");
  return { ...state, ...beginTurn(state.cards, otherTeam(state.turn), state.turns) };
}

const over = (
  state: CodenamesState,
  winner: Team | null,
  reason: NonNullable<CodenamesView["result"]>["reason"],
): CodenamesState => ({ ...state, phase: "over", guesses_left: null, result: { winner, reason } });

export function giveClue(state: CodenamesState, { word, number }: Clue) {
  const fault = clueFault(word, covered(state), state.clue_rule ?? 1);
  if (fault !== null) return err({ message: fault });
  const isLimited = typeof number === "number" && number > 0;
  const begun = noted(state, { clue: { word, number } });
  return ok<CodenamesState>({ ...begun, phase: "guess", guesses_left: isLimited ? number + 1 : null });
}

export function guess(state: CodenamesState, word: string) {
  const place = state.cards.findIndex((card) => !card.uncovered && fold(card.word) === fold(word));
  const card = state.cards[place];
  if (!card) return err({ message: "that word is not on the board, or it has been guessed" });
  const cards = state.cards.with(place, { ...card, uncovered: true });
  const guesses = [...(state.turns.at(-1)?.guesses ?? []), { word: card.word, identity: card.identity }];
  const next = noted({ ...state, cards, remaining: remainingIn(cards) }, { guesses });
  if (card.identity === "assassin") return ok(over(next, otherTeam(state.turn), "assassin"));
  const winner = TEAMS.find((team) => next.remaining[team] === 0);
  if (winner) return ok(over(next, winner, "agents_found"));
  const left = state.guesses_left === null ? null : state.guesses_left - 1;
  return ok(card.identity === state.turn && left !== 0 ? { ...next, guesses_left: left } : endTurn(next));
}
