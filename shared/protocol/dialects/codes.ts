/** The errors of the dialect of the classroom. */
const descriptions = {
  E001: "TIMEOUT_ERROR",
  E003: "MISSING_REQUIRED_FIELD",
  E004: "INVALID_PARITY_CHOICE",
  E005: "PLAYER_NOT_REGISTERED",
  E009: "CONNECTION_ERROR",
  E011: "AUTH_TOKEN_MISSING",
  E012: "AUTH_TOKEN_INVALID",
  E018: "PROTOCOL_VERSION_MISMATCH",
  E021: "INVALID_TIMESTAMP",
} as const;

export type ClassroomCode = keyof typeof descriptions;

/** The fields of an error that name it. */
export const errorOf = (code: ClassroomCode) => ({ error_code: code, error_description: descriptions[code] });
