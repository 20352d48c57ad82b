/** Error codes of leagues (L) and games (G). The names are sent as `error_name`. */
export const errorNames = {
  L001: "REGISTRATION_FAILED",
  L002: "LEAGUE_FULL",
  L003: "ALREADY_REGISTERED",
  L004: "NOT_REGISTERED",
  L005: "INVALID_LEAGUE",
  G001: "INVALID_MOVE",
  G002: "TIMEOUT",
  G003: "GAME_NOT_FOUND",
  G004: "NOT_YOUR_TURN",
  G005: "GAME_ALREADY_STARTED",
} as const;

export type ErrorCode = keyof typeof errorNames;

/** The rejection of a well-formed request. It is sent as LEAGUE_ERROR or GAME_ERROR and never thrown. */
export interface ProtocolError {
  readonly error_code: ErrorCode;
  readonly error_name: string;
  readonly message: string;
  /** Whether the same request may succeed later or in another form. */
  readonly retryable: boolean;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Creates a rejection with the name of its code. */
export function protocolError(
  code: ErrorCode,
  message: string,
  context: Readonly<Record<string, unknown>> = {},
  retryable = false,
): ProtocolError {
  return { error_code: code, error_name: errorNames[code], message, retryable, context };
}

/** Returns the message type of a rejection: LEAGUE_ERROR for codes of leagues, GAME_ERROR for codes of games. */
export const errorType = (error: ProtocolError): "LEAGUE_ERROR" | "GAME_ERROR" =>
  error.error_code.startsWith("L") ? "LEAGUE_ERROR" : "GAME_ERROR";
