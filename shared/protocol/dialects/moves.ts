import { withoutVersion } from "../../games/game.ts";
import { readMove } from "../../games/read-move.ts";
import { findGame } from "../../games/registry.ts";
import type { MoveRequest } from "../messages.ts";
import type { Reading } from "./answers.ts";
import { type Fields, first } from "./fields.ts";

/** The names of the field with the move. */
const MOVE_FIELDS = ["parity_choice", "parity", "choice", "move", "action", "selected", "selection", "value", "answer"];
const NUMBER_FIELDS = ["number", "chosen_number", "selected_number", "column", "position", "cell"];

/** A turn to which an answer belongs. */
interface Turn {
  readonly game: string;
  readonly request: Pick<MoveRequest, "game_state" | "your_role" | "legal_actions" | "tick">;
}

/** Returns the move in an answer as an action of the game, not checked by its rules; null if the answer has no move. */
export function moveIn({ objects }: Reading, turn: Turn): { readonly action: unknown } | null {
  const inner = objects.filter((object) => !("jsonrpc" in object) && !isAcknowledgement(object.value));
  const game = withoutVersion(turn.game);
  if (game === "even_odd") return evenOddMove(inner, turn);
  const cell = game === "tic_tac_toe" ? cellOf(inner) : null;
  if (cell !== null) return { action: cell };
  const plain =
    first(inner.map(withoutObjects), [...MOVE_FIELDS, ...NUMBER_FIELDS]) ?? first(inner, ["move", "action"]);
  if (plain === undefined) return null;
  if (game === "tic_tac_toe" && isIndex(plain)) return { action: cellAt(Math.floor(plain / 3), plain % 3) };
  return { action: actionOf(plain, turn) };
}

/** Whether the result of a response is a plain text that only acknowledges the request. */
const isAcknowledgement = (value: unknown): boolean =>
  typeof value === "boolean" ||
  (typeof value === "string" && /^(ok|ack|acknowledged|received|success|done)$/i.test(value.trim()));

const withoutObjects = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value !== "object"));

/** Returns the listed action that a value names, in any case; otherwise the value. */
function actionOf(value: unknown, { game, request }: Turn): unknown {
  const known = findGame(game);
  const legal = request.legal_actions ?? [];
  const same = legal.find((action) => String(action).toLowerCase() === String(value).trim().toLowerCase());
  if (same !== undefined && typeof same !== "object") return same;
  return known ? readMove(known, request.game_state, request.your_role, value) : value;
}

/**
 * Returns the action in even/odd. In the variant `sum` an action is a number: the number of the answer, or one of the chosen parity. In the variant `draw` it is a
 * parity: the chosen one, or that of the number.
 */
function evenOddMove(objects: readonly Fields[], { request }: Turn): { readonly action: unknown } | null {
  const { variant } = (request.game_state ?? {}) as { readonly variant?: unknown };
  const choice = first(objects.map(withoutObjects), MOVE_FIELDS);
  const named = first(objects.map(withoutObjects), NUMBER_FIELDS);
  const number = numberOf(named) ?? numberOf(choice);
  const parity = typeof choice === "string" && /^(even|odd)$/i.test(choice.trim()) ? choice.trim().toLowerCase() : null;
  if (choice === undefined && named === undefined) return null;
  if (variant === "sum") {
    if (number !== null) return { action: number };
    return { action: parity === null ? choice : numberWith(parity, request.tick) };
  }
  if (parity !== null) return { action: parity };
  return { action: number === null ? choice : number % 2 === 0 ? "even" : "odd" };
}

/** A number of a parity. It changes with the turn, so that the player cannot be predicted from its parity alone. */
const numberWith = (parity: string, tick: number): number =>
  parity === "even" ? ([2, 4][Math.floor(tick / 2) % 2] ?? 2) : ([1, 3, 5][Math.floor(tick / 2) % 3] ?? 1);

function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
  return Number.isInteger(number) ? (number as number) : null;
}

const isIndex = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 9;

/** Returns the cell of `{row, col}`, counted from the top left from 0, or from 1 if a 3 occurs. */
function cellOf(objects: readonly Fields[]): string | null {
  const row = numberOf(first(objects, ["row", "r", "y"]));
  const column = numberOf(first(objects, ["col", "column", "c", "x"]));
  if (row === null || column === null) return null;
  const base = row === 3 || column === 3 ? 1 : 0;
  return cellAt(row - base, column - base);
}

/** A cell such as `a3`: rows count from the bottom, columns are letters. */
const cellAt = (row: number, column: number): string => `${String.fromCharCode(97 + column)}${3 - row}`;
