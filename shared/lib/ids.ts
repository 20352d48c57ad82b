import { hash, randomBytes, randomUUID } from "node:crypto";
import { flat } from "./text.ts";

/** Random tokens and ids. */
export interface Ids {
  /** Returns a random 256-bit secret as base64url. */
  token(): string;
  /** Returns a random UUID as a flat string (see text.ts). It does not encode a time, a league or a match. */
  uuid(): string;
}

/**
 * Tokens and ids from the system's random number generator. `toLowerCase` makes V8 copy the UUID into a flat string.
 */
export const systemIds: Ids = {
  token: () => randomBytes(32).toString("base64url"),
  uuid: () => randomUUID().toLowerCase(),
};

/** Returns whether a text has the form of a token. Its randomness cannot be checked. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Returns whether a text has the form of a session id, a UUID. Match references do not have this form. */
export const isSessionId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);

/**
 * Returns the same id for the same parts (stream, version and recipient), in the form of a UUID of version 4. A message
 * that is sent again therefore has the same id.
 */
export function derivedMessageId(...parts: readonly string[]): string {
  const bytes = hash("sha256", JSON.stringify(parts), "buffer");
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns a suffix of six hex characters that distinguishes runs that begin in the same second. */
export const newRunSuffix = (): string => randomBytes(3).toString("hex");

const numbered = (prefix: string, ordinal: number): string => `${prefix}${String(ordinal).padStart(2, "0")}`;

/** Returns the id of a player: `P01` for ordinal 1. */
export const playerId = (ordinal: number): string => numbered("P", ordinal);

/** Returns the id of a referee: `REF01` for ordinal 1. */
export const refereeId = (ordinal: number): string => numbered("REF", ordinal);

/** Returns a reference to a match that is unique across leagues. Match ids are unique only within a league. */
export const matchRef = (leagueId: string, matchId: string): string => `${leagueId}/${matchId}`;

/** Returns the agent id of a player in the session of a match: `P01@league/R1M1`. */
export const matchAgentId = (playerId: string, leagueId: string, matchId: string): string =>
  flat(playerId, "@", leagueId, "/", matchId);

/**
 * Compares ids by their prefix and then by their number, so that P99 comes before P100. The order does not depend on
 * the locale.
 */
export function compareIds(a: string, b: string): number {
  const [, prefixA = "", numberA = ""] = /^(.*?)(\d*)$/s.exec(a) ?? [];
  const [, prefixB = "", numberB = ""] = /^(.*?)(\d*)$/s.exec(b) ?? [];
  if (prefixA !== prefixB) return prefixA < prefixB ? -1 : 1;
  return Number(numberA) - Number(numberB) || (a < b ? -1 : a > b ? 1 : 0);
}
