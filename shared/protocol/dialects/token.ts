import { equalSecrets } from "../../lib/hash.ts";
import { signFor } from "../signing.ts";

/**
 * Returns the token of a player of another dialect. Some programs require the token of their registration in every message. The token is derived from the hash of
 * the player's native token, which such a player never receives. It therefore authenticates no native message. It is not the signature of any match either,
 * because the text that it signs contains a line break, and the id of a match does not.
 */
export const dialectToken = (playerId: string, tokenHash: string): string =>
  `tok-${playerId.toLowerCase()}-${signFor(tokenHash, `dialect\n${playerId}`)}`;

export const isDialectToken = (token: string, playerId: string, tokenHash: string): boolean =>
  equalSecrets(token, dialectToken(playerId, tokenHash));
