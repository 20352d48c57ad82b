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
