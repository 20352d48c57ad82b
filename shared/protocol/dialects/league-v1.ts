import { withoutVersion } from "../../games/game.ts";
import { derivedMessageId } from "../../lib/ids.ts";
import type { Envelope } from "../envelope.ts";
import type { GameInvite, GameResult, MoveRequest } from "../messages.ts";
import type { Contact, Dialect, Wordings } from "./dialect.ts";
import { isFields, wholeSeconds } from "./fields.ts";
import type { ForeignMessage } from "./forms.ts";
import { type Memory, matchIn, type RoundFacts } from "./memory.ts";

/**
 * The dialect league.v1: flat messages with `message_type` and `conversation_id`. It has no invitations: GAME_START takes their place, and any
 * answer to it without an error accepts the match. It has no announcements.
 */
export const leagueV1: Dialect = {
  id: "league.v1",
  protocol: "league.v1",
  encode(envelope, contact, memory) {
    switch (envelope.type) {
      case "GAME_INVITE":
        return one(gameStart(envelope, contact));
      case "MOVE_REQUEST":
        return one(moveRequest(envelope, contact, memory));
      case "ROUND_RESULT":
        return one(roundResult(envelope, contact, memory));
      case "GAME_RESULT":
        return one(gameEnd(envelope, contact, memory));
      default:
        return [];
    }
  },
};

const one = (message: ForeignMessage): readonly Wordings[] => [[message]];

function head(type: string, { timestamp, payload }: Envelope, { token, playerId }: Contact, roundId: number) {
  const { league_id, match_id } = payload;
  return {
    protocol: "league.v1",
    message_type: type,
    league_id,
    round_id: roundId,
    match_id,
    conversation_id: derivedMessageId("conversation", String(league_id), String(match_id)),
    sender: "referee",
    timestamp: wholeSeconds(timestamp),
    auth_token: token,
    player_id: playerId,
  } as const;
}

function gameStart(envelope: Envelope, contact: Contact): ForeignMessage {
  const { round_id, game, options, roles, your_role } = envelope.payload as GameInvite;
  return {
    ...head("GAME_START", envelope, contact, round_id),
    game_config: {
      game_type: withoutVersion(game),
      ...(isFields(options) ? options : {}),
      ...(contact.moveMs !== undefined && { time_limit_seconds: contact.moveMs / 1000 }),
    },
    players: Object.entries(roles).map(([role, player_id]) => ({ player_id, role })),
    your_role,
  };
}

const byPlayer = (roles: Readonly<Record<string, string>>, values: unknown): object =>
  isFields(values)
    ? Object.fromEntries(Object.entries(values).map(([role, value]) => [roles[role] ?? role, value]))
    : {};

const roundIdIn = (memory: Memory, payload: Envelope["payload"]): number =>
  matchIn(memory, payload)?.invite.round_id ?? 1;

function moveRequest(envelope: Envelope, contact: Contact, memory: Memory): ForeignMessage {
  const request = envelope.payload as MoveRequest;
  const match = matchIn(memory, request);
  const view = isFields(request.game_state) ? request.game_state : {};
  return {
    ...head("MOVE_REQUEST", envelope, contact, roundIdIn(memory, request)),
    game_round: request.game_round,
    game_state: {
      ...view,
      your_role: request.your_role,
      scores: byPlayer(match?.invite.roles ?? {}, view.scores),
      previous_rounds: match?.rounds.map(roundFields) ?? [],
    },
    time_limit_seconds: request.time_limit_seconds,
    deadline: wholeSeconds(request.deadline),
    valid_moves: request.legal_actions ?? [],
    ...(request.error !== undefined && { error: request.error }),
  };
}

/** The fields of a closed round, without those of its match. */
const roundFields = ({ league_id: _, match_id: __, ...round }: RoundFacts): object => round;

function roundResult(envelope: Envelope, contact: Contact, memory: Memory): ForeignMessage {
  const round = roundFields(envelope.payload as RoundFacts);
  return { ...round, ...head("ROUND_RESULT", envelope, contact, roundIdIn(memory, envelope.payload)) };
}

function gameEnd(envelope: Envelope, contact: Contact, memory: Memory): ForeignMessage {
  const { final_scores, winner, match_points, reason } = envelope.payload as GameResult;
  const about = head("GAME_END", envelope, contact, roundIdIn(memory, envelope.payload));
  return { ...about, final_scores, winner, match_points, reason };
}
