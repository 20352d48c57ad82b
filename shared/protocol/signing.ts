import { equalSecrets, hmacBase64Url, sha256Hex } from "../lib/hash.ts";

/**
 * Signs a message of the manager or a referee to an agent (PROTOCOL.md, section 3): base64url(HMAC-SHA256(key =
 * lowercase hex SHA-256 of the agent's token, subject)). The agent recognizes its league by the signature, and a
 * referee never receives a player's token. The subject is `league_id/match_id`, or `league_id` for messages about the
 * whole league.
 */
export const signFor = (tokenHash: string, subject: string): string => hmacBase64Url(tokenHash, subject);

/** Returns whether `signature` was computed for the holder of `token` about `subject`. */
export const isSignedFor = (token: string, subject: string, signature: string): boolean =>
  equalSecrets(signature, signFor(sha256Hex(token), subject));

/** The largest number of cached signatures. */
const MAX_CACHED = 10_000;

/**
 * Returns `isSignedFor` for one token. It caches the signature of each subject, for an agent that receives many
 * messages about the same matches.
 */
export function signatureCheck(token: string): (subject: string, signature: string) => boolean {
  const tokenHash = sha256Hex(token);
  const expected = new Map<string, string>();
  return (subject, signature) => {
    const cached = expected.get(subject);
    if (cached !== undefined) return equalSecrets(signature, cached);
    const computed = signFor(tokenHash, subject);
    if (!equalSecrets(signature, computed)) return false; // not cached: a caller without a token may send any number of subjects
    if (expected.size >= MAX_CACHED) expected.clear();
    expected.set(subject, computed);
    return true;
  };
}
