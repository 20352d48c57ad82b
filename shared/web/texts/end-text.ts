import { reasonInWords, winnersInWords } from "../../games/game.ts";
import type { GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { FAULT_TEXTS } from "./fault-texts.ts";
import { capitalized, nameOf } from "./game-texts.ts";

/** The end of a game as a person sees it. */
interface End {
  /** "You won", "Draw" */
  readonly title: string;
  /** Why, as a sentence without a full stop. */
  readonly reason: string;
  readonly tone: "win" | "loss" | "draw" | "none";
}

/** The reasons of ends in words. A reason that is not listed is shown by its own words. */
const REASONS: Readonly<Record<string, string>> = {
  ...FAULT_TEXTS,
  checkmate: "Checkmate",
  stalemate: "Stalemate: no legal move, and no check",
  insufficient_material: "Neither side has enough pieces to give checkmate",
  threefold_repetition: "The same position for the third time",
  fifty_moves: "Fifty moves without a capture or a pawn move",
  move_limit: "The limit of moves was reached",
  draw_agreed: "The players agreed to a draw",
  draw_adjudicated: "Both engines saw an equal position",
  resignation: "Resignation",
  three_in_a_row: "Three in a row",
  four_in_a_row: "Four in a row",
  board_full: "The board is full",
  rounds_won: "More rounds won",
  chips_won: "More chips won",
  draw: "Equal scores",
  agents_found: "All agents of the team were found",
  assassin: "The assassin was guessed",
  bot_failed: "The bot stopped working",
  expired: "No player moved within the time limit",
};

/** The reasons that have other words for a loser. */
const REASONS_OF_LOSS: Readonly<Record<string, string>> = {
  rounds_won: "Fewer rounds won",
  chips_won: "Fewer chips won",
};

/** Returns the end of a finished game for the person in `role`; null while it is active. */
export function endInWords(game: GameView, role: string, facts: GameFacts | undefined): End | null {
  const { result } = game;
  if (result === null) return null;
  const { winners, termination } = result;
  const reason = reasonsInWords(result.reason);
  if (termination === "expired") return { title: "The game has expired", reason, tone: "none" };
  if (termination === "aborted") return { title: "The game was stopped", reason, tone: "none" };
  // If all sides have forfeited, the result is not a draw.
  if (winners.length === 0)
    return termination === "forfeit"
      ? { title: "No winner", reason, tone: "none" }
      : { title: "Draw", reason, tone: "draw" };
  const isPlayer = game.roles.includes(role);
  if (isPlayer && winners.includes(role))
    return { title: winners.length > 1 ? "Your team won" : "You won", reason, tone: "win" };
  if (isPlayer) {
    const title = winners.length > 1 ? "Your team lost" : "You lost";
    return { title, reason: REASONS_OF_LOSS[result.reason] ?? reason, tone: "loss" };
  }
  const winner = winnersInWords(facts?.teams, winners, (name) => nameOf(game, name));
  return { title: `${capitalized(winner)} won`, reason, tone: "none" };
}

const reasonsInWords = (reason: string): string =>
  [...new Set(reason.split(",").map((one) => REASONS[one] ?? capitalized(reasonInWords(one))))].join(", ");
