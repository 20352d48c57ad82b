import { err, type Result } from "#shared/lib/result.ts";
import { type ErrorCode, type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type Rejection as RejectionOf, sessionRejectionCodes } from "#shared/session/session.ts";

/** HTTP status of each REST error code. */
export const restStatus = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  INVALID_ACTION: 400,
  CONFLICT: 409,
  INVALID_REQUEST: 400,
  ALREADY_ACTED: 400,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;
export type RestCode = keyof typeof restStatus;

/** The codes of all rejections of a session host: those of `decide`, then those of the host. */
export const rejectionCodes = [
  ...sessionRejectionCodes,
  "WAITING_FOR_PLAYERS",
  "ACTED_BY_DRIVER",
  "FALSE_CLAIM",
  "KEY_REUSED",
  "INVALID_TOKEN",
  "NO_SEAT",
  "AMBIGUOUS_SEAT",
  "NOT_PERMITTED",
  "UNKNOWN_SESSION",
  "GAME_NOT_LOADED",
  "UNKNOWN_AGENT",
  "UNKNOWN_PLAYER",
  "UNKNOWN_GAME",
  "UNKNOWN_GAME_TOKEN",
  "UNKNOWN_BOT",
  "UNKNOWN_ROLE",
  "INVALID_OPTIONS",
  "INVALID_PARTICIPANTS",
  "NO_OPEN_SEAT",
  "AMBIGUOUS_MATCH",
  "INVALID_ORDER",
  "MATCH_SUPERSEDED",
  "TOO_MANY_MATCHES",
  "GAME_ALREADY_OPEN",
  "NO_BOARD",
  "CANNOT_ASK",
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

/** The reason why a request was not accepted. A rejected request has changed nothing. */
export interface Rejection extends RejectionOf<RejectionCode> {
  /** The reason of the end of the session. The end may not be on disk yet, so readers of the session may not see it yet. */
  readonly reason?: string | null;
  /** Facts for programs, such as ids. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The answers to a rejection. A request that cannot be parsed is answered with an error of HTTP or JSON-RPC instead. */
interface RejectionAnswers {
  /** Error code of the REST API; `restStatus` has its HTTP status. */
  readonly rest: RestCode;
  /** Error code of the routes that the pages call. */
  readonly pages: RestCode;
  /** `error_code` of tools and messages. */
  readonly protocol: ErrorCode;
  /** `retryable` of tools and messages: whether the same request can succeed later, or in another form. */
  readonly isRetryable: boolean;
  /** The text for people if the host has no more specific one. */
  readonly text: string;
}

function answers(
  rest: RestCode,
  pages: RestCode,
  protocol: ErrorCode,
  isRetryable: boolean,
  text: string,
): RejectionAnswers {
  return { rest, pages, protocol, isRetryable, text };
}

const LEAGUE_MATCH = "In a league match the referee asks for moves: answer its MOVE_REQUEST";

/** The answers to each rejection: REST, pages, tools and messages, retryable, text. */
export const rejectionTable: Readonly<Record<RejectionCode, RejectionAnswers>> = {
  SESSION_OVER: answers("INVALID_ACTION", "CONFLICT", "G004", false, "The session is over"),
  ALREADY_ACTED: answers("ALREADY_ACTED", "CONFLICT", "G004", true, "You have already acted in this turn"),
  CONFLICT: answers("CONFLICT", "CONFLICT", "G004", true, "The session is at another tick"),
  NOT_YOUR_TURN: answers("INVALID_ACTION", "CONFLICT", "G004", true, "Not your turn"),
  ILLEGAL_ACTION: answers("INVALID_ACTION", "INVALID_ACTION", "G001", true, "The rules do not allow this action"),
  WAITING_FOR_PLAYERS: answers("INVALID_ACTION", "CONFLICT", "G004", true, "Players have not joined yet"),
  ACTED_BY_DRIVER: answers("FORBIDDEN", "CONFLICT", "G004", false, LEAGUE_MATCH),
  FALSE_CLAIM: answers("INVALID_ACTION", "INVALID_ACTION", "G001", true, "The claim about the move is false"),
  KEY_REUSED: answers("INVALID_REQUEST", "INVALID_REQUEST", "G001", false, "The key was used for another request"),
  INVALID_TOKEN: answers("UNAUTHORIZED", "UNAUTHORIZED", "L004", true, "Missing or invalid token"),
  NO_SEAT: answers("FORBIDDEN", "UNAUTHORIZED", "L004", true, "The token holds no seat of this session"),
  AMBIGUOUS_SEAT: answers("FORBIDDEN", "UNAUTHORIZED", "L004", true, "The token may belong to several seats"),
  NOT_PERMITTED: answers("FORBIDDEN", "FORBIDDEN", "L004", false, "The caller may not do this"),
  UNKNOWN_SESSION: answers("NOT_FOUND", "NOT_FOUND", "G003", false, "No such session"),
  GAME_NOT_LOADED: answers("UNAVAILABLE", "UNAVAILABLE", "G003", true, "The game of this session is not loaded"),
  UNKNOWN_AGENT: answers("NOT_FOUND", "NOT_FOUND", "G003", false, "No such agent"),
  UNKNOWN_PLAYER: answers("NOT_FOUND", "NOT_FOUND", "G003", true, "No such player here"),
  UNKNOWN_GAME: answers("INVALID_REQUEST", "NOT_FOUND", "G003", false, "No such game"),
  UNKNOWN_GAME_TOKEN: answers("NOT_FOUND", "NOT_FOUND", "G003", true, "No game of Codenames has this game_token"),
  UNKNOWN_BOT: answers("INVALID_REQUEST", "NOT_FOUND", "G003", false, "No such bot here"),
  UNKNOWN_ROLE: answers("INVALID_REQUEST", "INVALID_ACTION", "G001", false, "The game has no such role"),
  INVALID_OPTIONS: answers("INVALID_REQUEST", "INVALID_ACTION", "G001", false, "The options do not fit the game"),
  INVALID_PARTICIPANTS: answers("INVALID_REQUEST", "INVALID_REQUEST", "G003", false, "The participants do not fit"),
  NO_OPEN_SEAT: answers("CONFLICT", "CONFLICT", "G005", false, "Every seat of this game is taken"),
  AMBIGUOUS_MATCH: answers("INVALID_REQUEST", "INVALID_REQUEST", "G003", true, "The name of the match is ambiguous"),
  INVALID_ORDER: answers("INVALID_REQUEST", "INVALID_REQUEST", "G003", false, "The order of the match is not valid"),
  MATCH_SUPERSEDED: answers("CONFLICT", "CONFLICT", "G005", false, "The match has a later epoch or was withdrawn"),
  TOO_MANY_MATCHES: answers(
    "TOO_MANY_REQUESTS",
    "TOO_MANY_REQUESTS",
    "G005",
    true,
    "The referee plays its maximum number of matches",
  ),
  GAME_ALREADY_OPEN: answers("CONFLICT", "CONFLICT", "G005", true, "A game of Codenames is already open"),
  NO_BOARD: answers("INVALID_REQUEST", "INVALID_REQUEST", "G001", true, "No game was created: it has no words"),
  CANNOT_ASK: answers("INVALID_REQUEST", "INVALID_REQUEST", "G001", false, "Your MCP host cannot ask these players"),
};

/** Creates a rejection. The default for `message` is the text of the table. `context` has facts for programs. */
export function rejection(code: RejectionCode, message?: string, context?: Rejection["context"]): Rejection {
  return { code, message: message ?? rejectionTable[code].text, ...(context && { context }) };
}

/** Creates a rejection as a result. */
export const rejected = (...given: Parameters<typeof rejection>): { readonly ok: false; readonly error: Rejection } =>
  err(rejection(...given));

/** Returns the advice for the operator of a host that does not have a game. */
export const loadAdvice = "start this server again with --game and the file of the game";

/**
 * Thrown when a session is read whose game this process does not have, because it was started without the file of the game. Each interface
 * answers it as a rejection.
 */
export class GameNotLoaded extends Error {
  readonly rejection: Rejection;
  constructor(game: string) {
    super(`The game ${game} of this session is not loaded. The session is kept: ${loadAdvice}`);
    this.rejection = rejection("GAME_NOT_LOADED", this.message, { game });
  }
}

/** Returns the protocol error for a rejection, for tools and messages. */
export function protocolErrorOf({ code, message, context }: Rejection): ProtocolError {
  const { protocol, isRetryable } = rejectionTable[code];
  return protocolError(protocol, message, context, isRetryable);
}

/** Returns a result with the protocol error instead of the rejection, for tools and messages. */
export const protocolResult = <T>(result: Result<T, Rejection>): Result<T, ProtocolError> =>
  result.ok ? result : err(protocolErrorOf(result.error));

/** Creates a rejection as a result with its protocol error, for tools and messages. */
export const protocolRejected = (
  ...given: Parameters<typeof rejection>
): { readonly ok: false; readonly error: ProtocolError } => err(protocolErrorOf(rejection(...given)));
