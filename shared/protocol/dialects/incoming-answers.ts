import { withoutVersion } from "#shared/games/game.ts";
import { readMove } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { asText, cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { MoveRequest } from "#shared/protocol/messages.ts";
import { type Fields, first, firstText, isFields, objectsIn } from "./fields.ts";

/** The response to a message in another dialect. */
interface Response {
  readonly status: number;
  readonly text: string;
}

/** The content of a response, independent of the places of its fields. */
export interface Reading {
  /** The objects of the response, from the outside to the inside. */
  readonly objects: readonly Fields[];
  /** The error that the response reports in its body or by its HTTP status; null without one. */
  readonly error: string | null;
  /** The error in the body. A body may contain an answer although the HTTP status is that of an error. */
  readonly bodyError: string | null;
  /** Whether the receiver does not know the method or the message, or did not find the message in its place. */
  readonly isUnknown: boolean;
}

const METHOD_NOT_FOUND = -32601;
/** The codes of JSON-RPC errors after which another form may be understood: invalid request, unknown method, invalid params, internal error. */
const FORM_CODES: ReadonlySet<unknown> = new Set([-32600, METHOD_NOT_FOUND, -32602, -32603]);
const UNKNOWN =
  /(unknown|not found|unsupported|not supported|unrecogni[sz]ed|unhandled|no such|not implemented|invalid|missing)[\s_-]*(\w+[\s_-]+){0,3}(method|tool|message|type|handler|request|params?|envelope)|(method|tool|message|type|handler)\b.{0,60}(unknown|not found|not supported|unsupported|not implemented)/i;
const UNKNOWN_STATUS = /^(unknown|unsupported|unhandled|unrecogni[sz]ed|ignored|invalid)/i;

/**
 * Reads a response in any of the known shapes: the answer in `result`, in `params` of a JSON-RPC request, in a body without JSON-RPC, with `error: null`
 * beside `result`, or with an HTTP status of an error and a JSON body.
 */
export function readingOf({ status, text }: Response): Reading {
  const body = parsedJson(text);
  const objects = objectsIn(body);
  const bodyError = errorIn(body, objects);
  const isFailed = status < 200 || status >= 300;
  const error = bodyError ?? (isFailed ? line(`HTTP ${status} ${text}`) : null);
  return { objects, error, bodyError, isUnknown: isUnknown(body, objects, error, status) };
}

function errorIn(body: unknown, objects: readonly Fields[]): string | null {
  const error = isFields(body) ? body.error : undefined;
  if (isFields(error)) return line(`${asText(error.code)}: ${asText(error.message)} ${asText(error.data)}`);
  if (typeof error === "string" && error !== "") return line(error);
  const type = firstText(objects, ["message_type", "type"]) ?? "";
  if (/_ERROR$/i.test(type)) {
    const code = firstText(objects, ["error_code", "code"]) ?? "";
    return line(`${type} ${code} ${firstText(objects, ["error_description", "message", "reason"]) ?? ""}`);
  }
  const inner = first(objects, ["error"]);
  return inner === undefined ? null : line(asText(inner));
}

const line = (text: string): string => cutTo(300, inOneLine(text).trim());

function isUnknown(body: unknown, objects: readonly Fields[], error: string | null, status: number): boolean {
  const rpc = isFields(body) && isFields(body.error) ? body.error : null;
  if (rpc && FORM_CODES.has(rpc.code)) return true;
  if (status === 404 || status === 405 || status === 422) return true;
  if (UNKNOWN.test(error ?? "") || UNKNOWN_STATUS.test(stateOf(objects))) return true;
  return status === 400 || status >= 500;
}

/** Whether a response reports that its receiver has no such method. Other forms of a message are tried then even after one has worked. */
export const isMethodUnknown = (reading: Reading): boolean =>
  reading.objects.some(({ error }) => isFields(error) && error.code === METHOD_NOT_FOUND) ||
  (reading.isUnknown && /unknown|not found|not supported|unsupported/i.test(reading.error ?? stateOf(reading.objects)));

const stateOf = (objects: readonly Fields[]): string => firstText(objects, ["status"]) ?? "";

const ACCEPTING: ReadonlySet<string> = new Set([
  "ACCEPTED",
  "ACCEPT",
  "ACK",
  "JOINED",
  "READY",
  "CONFIRMED",
  "ARRIVED",
]);
const REFUSING: ReadonlySet<string> = new Set(["REJECTED", "DECLINED", "REFUSED", "REJECT", "DECLINE", "BUSY"]);

/** Whether an answer to an invitation accepts it; null if it does not say so. HTTP status 200 alone accepts nothing. */
export function acceptanceIn({ objects, bodyError }: Reading): boolean | null {
  const explicit = truth(first(objects, ["accept", "accepted", "is_accepted", "joined"]));
  if (explicit !== null) return explicit;
  const words = objects.flatMap(({ status, response, decision, value }) => [status, response, decision, value]);
  const states = words.filter((word) => typeof word === "string").map((word) => word.trim().toUpperCase());
  if (states.some((state) => REFUSING.has(state))) return false;
  if (states.some((state) => ACCEPTING.has(state))) return true;
  if (bodyError !== null) return null;
  const type = firstText(objects, ["message_type", "type"]) ?? "";
  if (/^GAME_JOIN_ACK$|^GAME_INVITE_RESPONSE$/i.test(type)) return true;
  return truth(first(objects, ["success"]) ?? first(objects, ["value"]));
}

function truth(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return null;
  if (/^(true|yes|accept(ed)?)$/i.test(value.trim())) return true;
  return /^(false|no|reject(ed)?|decline(d)?)$/i.test(value.trim()) ? false : null;
}

/** The reason of a refusal; null without one. */
export const reasonIn = ({ objects }: Reading): string | null =>
  firstText(objects, ["reason", "reject_reason", "rejection_reason", "detail"]);

const LATER: ReadonlySet<string> = new Set(["RECEIVED", "PENDING", "PROCESSING", "QUEUED", "DEFERRED"]);

/** Whether a response says that its answer will be sent later. */
export const isLater = ({ objects }: Reading): boolean =>
  objects.some(({ status, value }) =>
    [status, value].some((word) => typeof word === "string" && LATER.has(word.trim().toUpperCase())),
  );

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
