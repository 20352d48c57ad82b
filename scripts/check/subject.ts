import type { Game } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type Contact, dialectToken, parseSpeech } from "#shared/protocol/dialects/dialect.ts";
import { signFor } from "#shared/protocol/signing.ts";

/** The player that is checked. */
export interface Subject {
  readonly name: string;
  readonly playerId: string;
  /** The endpoint of the player, or of its inbox at the manager of the check. */
  readonly endpoint: string;
  /** Whether the player cannot be called and polls an inbox. */
  readonly hasInbox: boolean;
  /** The URL at which the check takes the answers that a player of another dialect sends in separate requests; null if there is none. */
  readonly refereeEndpoint: string | null;
  /** The token of the player, with which messages to it are signed; null if it is not known. */
  readonly token: string | null;
  /** Whether the player has chosen its token, so that it can check signatures. */
  readonly hasChosenToken: boolean;
  /** The ids of the games that the player claims to play; null for a player that was not registered here. */
  readonly games: readonly string[] | null;
  /** `native`, or another dialect with its form: `classroom:tool:params`. */
  readonly dialect: string;
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  readonly wantsAnnouncements: boolean;
  readonly wantsDeltaViews: boolean;
}

/** How to address a player of another dialect; null for a native one. */
export function contactOf({ dialect, playerId, token }: Subject): Contact | null {
  const speech = parseSpeech(dialect);
  return speech && { ...speech, playerId, token: dialectToken(playerId, sha256Hex(token ?? "")) };
}

/** Returns the signature of a message to the player about `league_id/match_id` or `league_id`. Without a token it is a signature that no player can check. */
export const signatureFor = ({ token, playerId }: Pick<Subject, "token" | "playerId">, about: string): string =>
  signFor(sha256Hex(token ?? `no token of ${playerId}`), about);

interface UrlPlayer {
  readonly endpoint: string;
  /** The token or secret of the player; null if it is not known. */
  readonly token: string | null;
  /** The games to check; null for all. */
  readonly games: readonly Game[] | null;
  readonly refereeEndpoint: string | null;
}

/** A player that is checked at its URL, without a registration. */
export const urlPlayer = ({ endpoint, token, games, refereeEndpoint }: UrlPlayer): Subject => ({
  name: endpoint,
  playerId: "P01",
  endpoint,
  hasInbox: false,
  refereeEndpoint,
  token,
  hasChosenToken: token !== null,
  games: games?.map(({ id }) => id) ?? null,
  dialect: "native",
  wantsLegalActions: true,
  wantsRoundResults: true,
  wantsAnnouncements: true,
  wantsDeltaViews: false,
});
