import { hash, randomBytes, randomUUID } from "node:crypto";

/** In lower case as it is; only that what comes of it is flat. */
const uuid = (): string => randomUUID().toLowerCase();

/** A 256-bit secret, base64url. */
export const newToken = (): string => randomBytes(32).toString("base64url");

/** Whether a text can be such a secret; that it is a random one is for whoever chose it to see to. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Opaque: says nothing of league, match or time. */
export const newSessionId = (): string => uuid();

/** Whether a text has the form of a session's id: names of matches are looked up elsewhere. */
export const isSessionId = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text);

/** Of an agent that registers with the session host. */
export const newAgentId = (): string => uuid();

/** Of a setup of Codenames that its host is asked about. */
export const newSetupId = (): string => uuid();

export const newMessageId = (): string => uuid();

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

/** Tells runs apart that begin in one second. */
export const newRunSuffix = (): string => randomBytes(3).toString("hex");

const numbered = (prefix: string, ordinal: number): string => `${prefix}${String(ordinal).padStart(2, "0")}`;

/** `P01` for the first player. */
export const playerId = (ordinal: number): string => numbered("P", ordinal);

/** `REF01` for the first referee. */
export const refereeId = (ordinal: number): string => numbered("REF", ordinal);

/** Match ids are unique within a league only; this names one match in one string. */
export const matchRef = (leagueId: string, matchId: string): string => `${leagueId}/${matchId}`;

/** The order of ids: by their numbers where they differ in those, P99 before P100. The same on every machine. */
export function compareIds(a: string, b: string): number {
  const [, nameA = "", numberA = ""] = /^(.*?)(\d*)$/s.exec(a) ?? [];
  const [, nameB = "", numberB = ""] = /^(.*?)(\d*)$/s.exec(b) ?? [];
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  return Number(numberA) - Number(numberB) || (a < b ? -1 : a > b ? 1 : 0);
}
