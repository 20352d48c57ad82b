import { equalSecrets, hmacBase64Url, sha256Hex } from "../lib/hash.ts";

/**
 * PROTOCOL.md, section 3: what the manager or a referee says to an agent carries
 * base64url(HMAC-SHA256(key = lowercase hex SHA-256 of that agent's token, subject)), so that the agent can tell it from a
 * stranger and a referee never learns a player's token. The subject is `league_id/match_id`, or `league_id` for league-wide messages.
 */
export const signFor = (tokenHash: string, subject: string): string => hmacBase64Url(tokenHash, subject);

/** Whether `signature` was made for the holder of `token` about `subject`. */
export const isSignedFor = (token: string, subject: string, signature: string): boolean =>
  equalSecrets(signature, signFor(sha256Hex(token), subject));

/** Subjects whose signatures are remembered at once. */
const MAX_REMEMBERED = 10_000;

/** `isSignedFor` of one token, for a holder that is told much about the same matches: each signature is worked out once. */
export function signatureCheck(token: string): (subject: string, signature: string) => boolean {
  const tokenHash = sha256Hex(token);
  const expected = new Map<string, string>();
  return (subject, signature) => {
    const known = expected.get(subject);
    if (known !== undefined) return equalSecrets(signature, known);
    const made = signFor(tokenHash, subject);
    if (!equalSecrets(signature, made)) return false; // not remembered: a caller without a token may send any number of subjects
    if (expected.size >= MAX_REMEMBERED) expected.clear();
    expected.set(subject, made);
    return true;
  };
}
