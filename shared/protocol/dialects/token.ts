import { equalSecrets } from "../../lib/hash.ts";
import { signFor } from "../signing.ts";

/**
 * Returns the token of a player of another dialect. Some programs require the token of their registration in every message. It is derived from the hash of the
 * player's native token, which such a player never receives, so it neither authenticates native messages nor signs matches: the subject of a signature has no line break.
 */
export const dialectToken = (playerId: string, tokenHash: string): string =>
  `tok-${playerId.toLowerCase()}-${signFor(tokenHash, `dialect\n${playerId}`)}`;

export const isDialectToken = (token: string, playerId: string, tokenHash: string): boolean =>
  equalSecrets(token, dialectToken(playerId, tokenHash));
