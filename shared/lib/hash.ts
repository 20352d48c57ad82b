import { createHmac, hash, timingSafeEqual } from "node:crypto";

/** Returns the SHA-256 of a UTF-8 string or of bytes as 64 lowercase hex characters. */
export const sha256Hex = (text: string | Buffer): string => hash("sha256", text, "hex");

/** Returns the HMAC-SHA256 of a text with a UTF-8 key, as base64url without padding (43 characters). */
export const hmacBase64Url = (key: string, text: string): string =>
  createHmac("sha256", key).update(text).digest("base64url");

/** Compares secrets in constant time; strings of different length are unequal. */
export function equalSecrets(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * An event to append to a stream: its type and its JSON text. Hashes cover the text as it is stored, never a
 * re-serialized copy.
 */
export interface NewEvent {
  readonly type: string;
  readonly body: string;
}

/** An event as it is stored in a log, chained to the preceding event of its stream. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** 0 for the first event of the stream; the version of the stream is the last `seq` + 1. */
  readonly seq: number;
  readonly prev_hash: string;
  readonly hash: string;
}

/** The previous hash of the first event of a stream. */
export const GENESIS = "0".repeat(64);

/** Returns the hash of an event: SHA-256 over the previous hash, a newline and the event's text. */
export const chainHash = (prevHash: string, body: string): string => sha256Hex(`${prevHash}\n${body}`);

/** Returns an event chained to a stream that has `seq` events, the last of which has the hash `prevHash`. */
export const chained = (stream: string, seq: number, prevHash: string, { type, body }: NewEvent): RecordedEvent => ({
  stream,
  seq,
  type,
  body,
  prev_hash: prevHash,
  hash: chainHash(prevHash, body),
});
