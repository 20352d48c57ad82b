/** Messages to a player for a match of rock-paper-scissors. */

import { sha256Hex } from "#shared/lib/hash.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcLeagueMessage } from "#shared/rpc/testing/json-rpc.ts";

const MATCH = { league_id: "rps", match_id: "R1M1" };

/** The fields of a message that a test may set. */
interface Fields {
  readonly match_id?: string;
  readonly epoch?: number;
  readonly game?: string;
  /** The seed of the match; the invitation carries its hash. */
  readonly seed?: string;
  readonly your_role?: string;
}

export function invitation({ seed = "seed", game = "rps.v1", ...fields }: Fields = {}): GameInvite {
  const roles = { player_1: "P01", player_2: "P02" };
  const match = { ...MATCH, round_id: 1, epoch: 1, game, options: { best_of: 3 }, your_role: "player_1", roles };
  return { ...match, ...fields, seed_commitment: sha256Hex(seed), bot_seed: seed };
}

export function moveRequest({ seed: _, game: __, ...fields }: Fields = {}): MoveRequest {
  const request = { ...MATCH, epoch: 1, tick: 0, your_role: "player_1", game_state: { phase: "choosing" } };
  const deadline = new Date(Date.now() + 5_000).toISOString();
  return { ...request, legal_actions: ["rock", "paper", "scissors"], time_limit_seconds: 5, deadline, ...fields };
}

export function gameResult({ seed = "seed", game: _, your_role: __, ...fields }: Fields = {}): GameResult {
  const points = { final_scores: { P01: 2, P02: 0 }, match_points: { P01: 3, P02: 0 } };
  const ended = { winner: "P01", termination: "normal", reason: "won", log_head: "h" } as const;
  return { ...MATCH, epoch: 1, ...ended, ...points, seed, ...fields };
}

type SentType = "GAME_INVITE" | "MOVE_REQUEST" | "GAME_RESULT";
/** A message of a referee with this token. */
export const from = (authToken: string, type: SentType, payload: object): Envelope =>
  newEnvelope(type, "referee:REF01", payload, { authToken });

/** The JSON-RPC body of one message, or the batch of several. */
export function bodyOf(...envelopes: readonly Envelope[]): object {
  const calls = envelopes.map(rpcLeagueMessage);
  return calls.length === 1 ? (calls[0] as object) : calls;
}

/** Returns the envelope in the text of an HTTP response to one message. */
export function replyIn(text: string): Envelope {
  const { result } = JSON.parse(text) as { result: { content: [{ text: string }] } };
  return JSON.parse(result.content[0].text) as Envelope;
}
