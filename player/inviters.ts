import { equalSecrets } from "#shared/lib/hash.ts";

export interface Inviters {
  /** Whether a message about a match brings the token that its invitation brought; an invitation to a match not known brings it. */
  isSame(subject: string, token: string, isInvitation: boolean): boolean;
}

/** Matches whose inviters are remembered at once. */
const MAX_INVITERS = 10_000;

/**
 * A player without a token of its own can check no signature. But who invites it to a match gives a secret of that match, and whatever
 * else is said of the match must come with it: a stranger would learn the player's moves by asking for them.
 */
export function createInviters(): Inviters {
  const tokens = new Map<string, string>();
  return {
    isSame(subject, token, isInvitation) {
      const known = tokens.get(subject);
      if (known !== undefined) return equalSecrets(known, token);
      if (isInvitation) {
        if (tokens.size >= MAX_INVITERS) tokens.delete(tokens.keys().next().value ?? "");
        tokens.set(subject, token);
      }
      return true;
    },
  };
}
