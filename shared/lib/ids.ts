import { hash, randomBytes, randomUUID } from "node:crypto";
import { flat } from "./text.ts";

/** Random tokens and ids. */
export interface Ids {
  /** A 256-bit secret, base64url. */
  token(): string;
  /** A UUID as a flat string (see text.ts). Nothing can be read from it: no time, league or match. */
  uuid(): string;
}

/** The randomness of the system. `toLowerCase` makes V8 copy the UUID. */
export const systemIds: Ids = {
  token: () => randomBytes(32).toString("base64url"),
  uuid: () => randomUUID().toLowerCase(),
};

/** Whether a text has the form of a token. Its randomness cannot be checked. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Whether a text has the form of a session's id, and is not the name of a match. */
export const isSessionId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);

/**
 * The same id for the same parts, in the form of a UUID of version 4: a message that is sent again carries the id that it had before.
 * The parts are stream, version and recipient.
 */
export function derivedMessageId(...parts: readonly string[]): string {
  const bytes = hash("sha256", JSON.stringify(parts), "buffer");
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex", 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A suffix that distinguishes runs that begin in the same second. */
export const newRunSuffix = (): string => randomBytes(3).toString("hex");

const numbered = (prefix: string, ordinal: number): string => `${prefix}${String(ordinal).padStart(2, "0")}`;

/** `P01` for the first player. */
export const playerId = (ordinal: number): string => numbered("P", ordinal);

/** `REF01` for the first referee. */
export const refereeId = (ordinal: number): string => numbered("REF", ordinal);

/** One string that names a match: match ids are unique within a league only. */
export const matchRef = (leagueId: string, matchId: string): string => `${leagueId}/${matchId}`;

/** A player as an agent of the session of one match: `P01@league/R1M1`. */
export const matchAgentId = (playerId: string, leagueId: string, matchId: string): string =>
  flat(playerId, "@", leagueId, "/", matchId);

/** The order of ids: by their prefix, then by their number, P99 before P100. It is the same on every machine. */
export function compareIds(a: string, b: string): number {
  const [, nameA = "", numberA = ""] = /^(.*?)(\d*)$/s.exec(a) ?? [];
  const [, nameB = "", numberB = ""] = /^(.*?)(\d*)$/s.exec(b) ?? [];
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  return Number(numberA) - Number(numberB) || (a < b ? -1 : a > b ? 1 : 0);
}
