import { reasonInWords, withoutVersion } from "#shared/games/game.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { GameInvite, GameResult, MoveRequest, RoundEnd, StandingsUpdate } from "#shared/protocol/messages.ts";
import {
  addEnded,
  type Contact,
  type Dialect,
  type Memory,
  type RoundFacts,
  type SeatFacts,
  seatOf,
  takeEnded,
  type Wordings,
} from "./dialect.ts";
import { wholeSeconds } from "./fields.ts";
import type { ForeignMessage } from "./forms.ts";
import { errorOf } from "./incoming-requests.ts";

/**
 * The dialect of the classroom: flat messages of "league.v2" with `message_type`, `sender`, `timestamp` and `conversation_id`. Fields that
 * programs place or name differently are sent in every place and under every name.
 */
export const classroom: Dialect = {
  id: "classroom",
  protocol: "league.v2",
  encode(envelope, contact, memory) {
    const encoder = ENCODERS[envelope.type];
    return encoder ? encoder(envelope, contact, memory) : [];
  },
};

type Encoder = (envelope: Envelope, contact: Contact, memory: Memory) => readonly Wordings[];

const ENCODERS: Partial<Record<Envelope["type"], Encoder>> = {
  GAME_INVITE: (envelope, contact) => [[invitation(envelope, contact)]],
  MOVE_REQUEST: (envelope, contact) => [
    ...(envelope.payload.error === undefined ? [] : [[rejectedMove(envelope, contact)]]),
    moveCalls(envelope, contact),
  ],
  GAME_RESULT: (envelope, contact) => [[gameOver(envelope, contact)]],
  GAME_ERROR: (envelope, contact) => [[unanswered(envelope, contact)]],
  ROUND_ANNOUNCEMENT: (envelope, contact) => [[roundAnnouncement(envelope, contact)]],
  ROUND_END(envelope, _, memory) {
    addEnded(memory, envelope.payload as RoundEnd);
    return [];
  },
  LEAGUE_STANDINGS_UPDATE: (envelope, contact, memory) =>
    afterRound(envelope, contact, memory).map((message) => [message]),
};

/** Returns the fields that every message has. A sender of the manager has no id. */
function head(type: string, { sender, timestamp, payload }: Envelope, { token }: Contact): ForeignMessage {
  const { league_id, round_id, match_id } = payload;
  return {
    protocol: "league.v2",
    message_type: type,
    sender: sender.startsWith("league_manager:") ? "league_manager" : sender,
    timestamp: wholeSeconds(timestamp),
    conversation_id: derivedMessageId("conversation", String(league_id), String(match_id ?? `round ${round_id}`)),
    auth_token: token,
    league_id,
    ...(round_id !== undefined && { round_id }),
    ...(match_id !== undefined && { match_id, game_id: match_id }),
  };
}

function roleInMatch({ roles, role }: SeatFacts): string {
  const index = Object.keys(roles).indexOf(role);
  return `PLAYER_${String.fromCharCode(65 + Math.max(0, index))}`;
}

const opponentOf = ({ roles, role }: SeatFacts): string =>
  Object.entries(roles).find(([other]) => other !== role)?.[1] ?? "";

function invitation(envelope: Envelope, contact: Contact): ForeignMessage {
  const { league_id, round_id, match_id, game, your_role } = envelope.payload as GameInvite;
  const seat = seatOf(contact);
  const about = {
    game_type: withoutVersion(game),
    player_id: contact.playerId,
    role_in_match: roleInMatch(seat),
    opponent_id: opponentOf(seat),
  };
  return {
    ...head("GAME_INVITATION", envelope, contact),
    ...about,
    invitation_id: envelope.message_id,
    your_role,
    game_invitation: { league_id, round_id, match_id, ...about },
  };
}

/** Returns the wordings of a move request: GAME_MOVE_CALL for every game, and before it CHOOSE_PARITY_CALL for even/odd. */
function moveCalls(envelope: Envelope, contact: Contact): Wordings {
  const request = envelope.payload as MoveRequest;
  const seat = seatOf(contact);
  const isEvenOdd = withoutVersion(seat.game) === "even_odd";
  const context = {
    opponent_id: opponentOf(seat),
    round_id: seat.roundId,
    your_standings: contact.standings ?? { wins: 0, losses: 0, draws: 0 },
  };
  const common = {
    ...head("GAME_MOVE_CALL", envelope, contact),
    round_id: context.round_id,
    player_id: contact.playerId,
    game_type: withoutVersion(seat.game),
    opponent_id: context.opponent_id,
    game_round: request.game_round,
    your_role: request.your_role,
    game_state: request.game_state,
    deadline: wholeSeconds(request.deadline),
    time_limit_seconds: request.time_limit_seconds,
    context,
  };
  const options = isEvenOdd ? ["even", "odd"] : (request.legal_actions ?? []);
  const moveType = isEvenOdd ? "choose_parity" : "make_move";
  const state = { game_state: request.game_state, your_role: request.your_role };
  const generic = {
    ...common,
    ...boardFields(seat.game, request),
    move_request: { move_type: moveType, valid_options: options, context: { ...context, ...state } },
    valid_options: options,
  };
  if (!isEvenOdd) return [generic];
  return [{ ...common, message_type: "CHOOSE_PARITY_CALL", parity_context: context, valid_options: options }, generic];
}

/** The error about the previous answer to a repeated move request. */
function rejectedMove(envelope: Envelope, contact: Contact): ForeignMessage {
  const { error } = envelope.payload as { readonly error: { readonly message?: unknown } };
  return {
    ...head("GAME_ERROR", envelope, contact),
    ...errorOf("E004"),
    affected_player: contact.playerId,
    action_required: "CHOOSE_PARITY_RESPONSE",
    max_retries: 3,
    message: error.message ?? "",
  };
}

/** The error about a request that the player did not answer: E009 if its connection was refused or lost until the time limit, else E001. */
function unanswered(envelope: Envelope, contact: Contact): ForeignMessage {
  const { context } = envelope.payload as { readonly context?: { readonly cause?: unknown } };
  return {
    ...head("GAME_ERROR", envelope, contact),
    ...errorOf(context?.cause === "refused" ? "E009" : "E001"),
    affected_player: contact.playerId,
    action_required: "NONE",
    max_retries: 3,
    consequence: "Technical loss",
    message: envelope.payload.message,
  };
}

/** Returns a choice as its parity: players of this dialect know no numbers. */
const parityOf = (choice: unknown): unknown =>
  typeof choice === "number" ? (choice % 2 === 0 ? "even" : "odd") : choice;

/** The drawn number, its parity and the choices of the last round; null without a round. */
function lastRound(rounds: readonly RoundFacts[]) {
  const round = rounds.at(-1);
  const parity = round?.number_parity ?? round?.sum_type;
  return {
    drawn_number: round?.drawn_number ?? round?.sum ?? null,
    number_parity: typeof parity === "string" ? parity.toLowerCase() : null,
    choices: Object.fromEntries(Object.entries(round?.moves ?? {}).map(([id, choice]) => [id, parityOf(choice)])),
  };
}

function gameOver(envelope: Envelope, contact: Contact): ForeignMessage {
  const result = envelope.payload as GameResult;
  const seat = seatOf(contact);
  const { winner, termination, final_scores, match_points } = result;
  const round = lastRound(seat.closedRounds());
  const opponent = opponentOf(seat);
  const isOwn = winner === contact.playerId;
  const outcome = winner === null ? (termination === "forfeit" ? "LOSS" : "DRAW") : isOwn ? "WIN" : "LOSS";
  const status = termination === "forfeit" ? "TECHNICAL_LOSS" : winner === null ? "DRAW" : "WIN";
  const reason = reasonInWords(result.reason);
  return {
    ...head("GAME_OVER", envelope, contact),
    round_id: seat.roundId,
    game_type: withoutVersion(seat.game),
    game_result: { status, winner_player_id: winner, ...round, reason, scores: match_points },
    player_id: contact.playerId,
    opponent_id: opponent,
    winner,
    winner_player_id: winner,
    winner_id: winner,
    result: outcome,
    outcome,
    ...round,
    your_choice: round.choices[contact.playerId] ?? null,
    opponent_choice: round.choices[opponent] ?? null,
    points: match_points[contact.playerId] ?? 0,
    score: match_points,
    final_scores,
    reason,
  };
}

interface AnnouncedMatch {
  readonly match_id: string;
  readonly game: string;
  readonly roles: Readonly<Record<string, string>>;
  readonly referee_endpoint: string | null;
}

function roundAnnouncement(envelope: Envelope, contact: Contact): ForeignMessage {
  const matches = envelope.payload.matches as readonly AnnouncedMatch[];
  return {
    ...head("ROUND_ANNOUNCEMENT", envelope, contact),
    matches: matches.map(({ match_id, game, roles, referee_endpoint }) => {
      const [playerA = "", playerB = ""] = Object.values(roles);
      const game_type = withoutVersion(game);
      return { match_id, game_type, player_A_id: playerA, player_B_id: playerB, referee_endpoint };
    }),
  };
}

/** The standings, the completed rounds and, after the last round, the end of the league, which is the last message to a player. */
function afterRound(envelope: Envelope, contact: Contact, memory: Memory): readonly ForeignMessage[] {
  const { league_id, standings: rows, round_id } = envelope.payload as StandingsUpdate;
  const ended = takeEnded(memory, league_id);
  const standings = rows.map(({ state: _, ...row }) => row);
  const completed = ended.map((round) => ({
    ...head("ROUND_COMPLETED", { ...envelope, payload: { league_id, round_id: round.round_id } }, contact),
    matches_played: round.matches_completed,
    matches_completed: round.matches_completed,
    next_round_id: round.next_round_id,
    summary: { total_matches: round.matches_completed, ...round.summary },
  }));
  const messages = [{ ...head("LEAGUE_STANDINGS_UPDATE", envelope, contact), standings }, ...completed];
  if (!ended.some(({ next_round_id }) => next_round_id === null)) return messages;
  const champion = rows[0];
  const end = {
    ...head("LEAGUE_COMPLETED", { ...envelope, payload: { league_id } }, contact),
    total_rounds: round_id,
    total_matches: contact.completedMatches ?? sumOf(ended.map(({ matches_completed }) => matches_completed)),
    champion: champion && {
      player_id: champion.player_id,
      display_name: champion.display_name,
      points: champion.points,
    },
    final_standings: standings,
  };
  return [...messages, end];
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** Returns the board of tic-tac-toe and Connect Four as rows of cells, as other programs expect it; nothing for other games. */
function boardFields(game: string, { game_state, your_role }: MoveRequest): object {
  const { board } = (game_state ?? {}) as { readonly board?: unknown };
  const isBoardGame = ["tic_tac_toe", "connect_four"].includes(withoutVersion(game));
  if (!isBoardGame || !Array.isArray(board)) return {};
  const rows = board.map((row) => [...String(row)].map((cell) => (cell === "." ? "" : cell.toUpperCase())));
  return { board: rows, your_mark: your_role.slice(0, 1).toUpperCase() };
}
