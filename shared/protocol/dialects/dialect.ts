import { equalSecrets } from "#shared/lib/hash.ts";
import { invariant } from "#shared/lib/result.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { RoundEnd } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { type ForeignMessage, Form } from "./forms.ts";

/** The dialects besides the native one. */
export const dialectIds = ["league.v1", "classroom"] as const;
export type DialectId = (typeof dialectIds)[number];

/** The native dialect: the protocol that PROTOCOL.md specifies. */
export const NATIVE = "native";

/** The dialect of a player and the form in which it expects its messages. */
interface Speech {
  readonly id: DialectId;
  readonly form: Form;
}

/** The payload of ROUND_RESULT, with the facts of the game. */
export type RoundFacts = Readonly<Record<string, unknown>> & { readonly moves: Readonly<Record<string, unknown>> };

/** A match and the seat of a player in it. It follows from START_GAME and the log of the session, so that a restarted referee knows it, too. */
export interface SeatFacts {
  readonly game: string;
  readonly roundId: number;
  /** The player ids by role. */
  readonly roles: Readonly<Record<string, string>>;
  readonly role: string;
  /** Returns the closed rounds, oldest first. */
  closedRounds(): readonly RoundFacts[];
}

/** A player that speaks another dialect, for messages to it. */
export interface Contact extends Speech {
  readonly playerId: string;
  /** The token that each message carries in `auth_token`. It has no authority in the native protocol. */
  readonly token: string;
  /** The time limit of a move in the match. */
  readonly moveMs?: number;
  /** The results of the player in its league before the match. */
  readonly standings?: { readonly wins: number; readonly draws: number; readonly losses: number } | undefined;
  /** The seat to which the messages of a referee belong; absent in messages of a manager. */
  readonly seat?: SeatFacts;
  /** The number of completed matches of the league to which the messages of a manager belong. */
  readonly completedMatches?: number;
}

/** The seat of a message about a match. */
export function seatOf({ seat, playerId }: Contact): SeatFacts {
  invariant(seat, `a message about a match to ${playerId} has its seat`);
  return seat;
}

/** Returns the text that a manager stores and sends to referees: `classroom:tool:params`. */
export const speechText = ({ id, form }: Speech): string => `${id}:${form.family}:${form.place}`;

/** Parses the text of `speechText`; null for the native dialect and for any other text. */
export function parseSpeech(text: string): Speech | null {
  const [name, family, place] = text.split(":");
  const id = dialectIds.find((known) => known === name);
  const form = Form.safeParse({ family, place });
  return id && form.success ? { id, form: form.data } : null;
}

/** A message in several wordings, which are tried in this order. */
export type Wordings = readonly ForeignMessage[];

/** The translation of native messages into one dialect. */
export interface Dialect {
  readonly id: DialectId;
  readonly protocol: string;
  /**
   * Returns the messages that a native message becomes, in the order in which they are sent. The last one is the request if the native message is
   * one. Empty if the dialect has no such message. May change `memory`, and has no other effect.
   */
  encode(envelope: Envelope, contact: Contact, memory: Memory): readonly Wordings[];
}

/**
 * The rounds that have ended, by league, and that one player has not been sent as completed: the manager sends ROUND_END and then the standings, and a
 * dialect has both in messages after the standings. A manager that is restarted between the two sends both again. All else that a message of a dialect
 * refers to stands in its contact, because a process that is restarted has not sent the earlier messages.
 */
export type Memory = Map<string, RoundEnd[]>;

export function addEnded(memory: Memory, round: RoundEnd): void {
  memory.set(round.league_id, [...(memory.get(round.league_id) ?? []), round]);
}

/** Removes and returns the ended rounds of a league. */
export function takeEnded(memory: Memory, leagueId: string): readonly RoundEnd[] {
  const ended = memory.get(leagueId) ?? [];
  memory.delete(leagueId);
  return ended;
}

/**
 * Returns the token of a player of another dialect. Some programs require the token of their registration in every message. The token is derived from the hash of
 * the player's native token, which such a player never receives. It therefore authenticates no native message. It is not the signature of any match either,
 * because the text that it signs contains a line break, and the id of a match does not.
 */
export const dialectToken = (playerId: string, tokenHash: string): string =>
  `tok-${playerId.toLowerCase()}-${signFor(tokenHash, `dialect\n${playerId}`)}`;

export const isDialectToken = (token: string, playerId: string, tokenHash: string): boolean =>
  equalSecrets(token, dialectToken(playerId, tokenHash));
