import { withoutVersion } from "../../games/game.ts";
import { derivedMessageId } from "../../lib/ids.ts";
import type { Envelope } from "../envelope.ts";
import type { GameInvite, GameResult, MoveRequest } from "../messages.ts";
import { type Contact, type Dialect, type RoundFacts, seatOf, type Wordings } from "./dialect.ts";
import { isFields, wholeSeconds } from "./fields.ts";
import type { ForeignMessage } from "./forms.ts";

/**
 * The dialect league.v1: flat messages with `message_type` and `conversation_id`. It has no invitations: GAME_START takes their place, and any
 * answer to it without an error accepts the match. It has no announcements.
 */
export const leagueV1: Dialect = {
  id: "league.v1",
  protocol: "league.v1",
  encode(envelope, contact) {
    switch (envelope.type) {
      case "GAME_INVITE":
        return one(gameStart(envelope, contact));
      case "MOVE_REQUEST":
        return one(moveRequest(envelope, contact));
      case "ROUND_RESULT":
        return one(roundResult(envelope, contact));
      case "GAME_RESULT":
        return one(gameEnd(envelope, contact));
      default:
        return [];
    }
  },
};

const one = (message: ForeignMessage): readonly Wordings[] => [[message]];

function head(type: string, { timestamp, payload }: Envelope, contact: Contact) {
  const { league_id, match_id } = payload;
  const { token, playerId } = contact;
  return {
    protocol: "league.v1",
    message_type: type,
    league_id,
    round_id: seatOf(contact).roundId,
    match_id,
    conversation_id: derivedMessageId("conversation", String(league_id), String(match_id)),
    sender: "referee",
    timestamp: wholeSeconds(timestamp),
    auth_token: token,
    player_id: playerId,
  } as const;
}

function gameStart(envelope: Envelope, contact: Contact): ForeignMessage {
  const { game, options, roles, your_role } = envelope.payload as GameInvite;
  return {
    ...head("GAME_START", envelope, contact),
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

function moveRequest(envelope: Envelope, contact: Contact): ForeignMessage {
  const request = envelope.payload as MoveRequest;
  const { roles, closedRounds } = seatOf(contact);
  const view = isFields(request.game_state) ? request.game_state : {};
  return {
    ...head("MOVE_REQUEST", envelope, contact),
    game_round: request.game_round,
    game_state: {
      ...view,
      your_role: request.your_role,
      scores: byPlayer(roles, view.scores),
      previous_rounds: closedRounds().map(roundFields),
    },
    time_limit_seconds: request.time_limit_seconds,
    deadline: wholeSeconds(request.deadline),
    valid_moves: request.legal_actions ?? [],
    error: request.error,
  };
}

/** The fields of a closed round, without those of its match. */
const roundFields = ({ league_id: _, match_id: __, ...round }: RoundFacts): object => round;

function roundResult(envelope: Envelope, contact: Contact): ForeignMessage {
  const round = roundFields(envelope.payload as RoundFacts);
  return { ...round, ...head("ROUND_RESULT", envelope, contact) };
}

function gameEnd(envelope: Envelope, contact: Contact): ForeignMessage {
  const { final_scores, winner, match_points, reason } = envelope.payload as GameResult;
  return { ...head("GAME_END", envelope, contact), final_scores, winner, match_points, reason };
}
