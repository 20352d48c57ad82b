import { z } from "zod";
import { inOneLine } from "../lib/text.ts";
import { ClockState, TimeControl } from "../lib/time-control.ts";
import { AnswerTimes } from "./answer-times.ts";
import { compiled, endpoint, id, match, points, roleMap } from "./message-fields.ts";
import { DisplayName } from "./names.ts";
import { MoveLimit } from "./timeouts.ts";
import { Transports } from "./transports.ts";
import { HistoryForm, OmittedHistory } from "./view-history.ts";

/** Unknown fields are ignored, as in all messages. */
const TimeControlOnWire = z.object(TimeControl.shape);

/** A referee ends, and has stopped its matches. */
export const RefereeLeave = z.object({});

/** Why the match is played again, in words. Absent in the first epoch, and from earlier versions. An invalid text is ignored. */
const RestartReason = z.string().max(300).transform(inOneLine).optional().catch(undefined);

/** The arguments of `start_game`, with which the manager assigns a match to a referee. */
export const StartGame = z.object({
  ...match,
  round_id: z.int(),
  epoch: z.int().min(1),
  /**
   * The run of the manager. A league that is started again has another run id, although its matches have the same ids.
   */
  run_id: id.nullish(),
  game: id,
  options: z.unknown(),
  /** Absent for a match without clocks. */
  clock: TimeControlOnWire.optional(),
  restart_reason: RestartReason,
  seed: z.string().max(1000),
  roles: roleMap(
    z.object({
      player_id: id,
      /** The name of the player for the pages of the referee. An invalid name is ignored. Earlier versions do not send it. */
      display_name: DisplayName.optional().catch(undefined),
      endpoint,
      /** `native`, or another dialect with its form: `classroom:tool:params`. */
      dialect: z.string().max(100).default("native"),
      /** Only for players of other dialects: the `auth_token` of each message to them, and their results so far. */
      dialect_token: z.string().max(1000).optional(),
      standings: z.object({ wins: z.int(), draws: z.int(), losses: z.int() }).optional(),
      match_token: z.string().max(1000),
      legal_actions: z.boolean().default(true),
      round_results: z.boolean().default(true),
      /** The time limit of this player for a move, if it differs from `timeouts.move_ms`. */
      move_ms: MoveLimit.optional(),
      /** `delta`: MOVE_REQUEST lacks the part of the history that the player has received. Absent for complete views. */
      history: HistoryForm.optional(),
      /** The transports that the player offers; absent without an offer. */
      transports: Transports.optional(),
    }),
  ),
  timeouts: z.object({ join_ms: z.int().min(1), move_ms: z.int().min(1), game_over_ms: z.int().min(1) }),
});
export type StartGame = z.infer<typeof StartGame>;

export const GameInvite = compiled({
  ...match,
  round_id: z.int(),
  epoch: z.int(),
  game: id,
  options: z.unknown(),
  your_role: z.string(),
  roles: roleMap(id),
  seed_commitment: z.string(),
  bot_seed: z.string(),
  /** The time within which the player must answer. Earlier versions do not send it. */
  time_limit_seconds: z.number().nullish(),
  /** The run of the manager. Earlier versions do not send it. */
  run_id: id.nullish(),
  /** Absent for a match without clocks. */
  clock: TimeControlOnWire.optional(),
  restart_reason: RestartReason,
});
export type GameInvite = z.infer<typeof GameInvite>;

export const GameInviteResponse = z.object({
  match_id: id,
  accept: z.boolean(),
  reason: z.string().max(2000).nullish(),
});

export const GameStart = compiled({
  ...match,
  game_config: z.record(z.string(), z.unknown()),
  players: z.array(z.object({ player_id: id, role: z.string() })),
});

export type GameStart = z.infer<typeof GameStart>;

export const MoveRequest = compiled({
  ...match,
  epoch: z.int().nullish(),
  tick: z.int().min(0),
  game_round: z.int().nullish(),
  your_role: z.string(),
  game_state: z.unknown(),
  /** The part of its history that `game_state` lacks. Absent if it is complete. */
  omitted_history: OmittedHistory.nullish(),
  legal_actions: z.array(z.unknown()).nullish(),
  time_limit_seconds: z.number(),
  deadline: z.string(),
  last_round_trip_ms: z.number().nullish(),
  /** The clocks of the match; absent in a match without clocks. */
  clock: ClockState.nullish(),
  /** The GAME_ERROR that is the reason for this repeated request. */
  error: z.unknown().optional(),
});
export type MoveRequest = z.infer<typeof MoveRequest>;

export const MoveResponse = compiled({ match_id: id, tick: z.int(), move: z.unknown() });

export const RoundResult = z.object({
  ...match,
  game_round: z.int(),
  moves: z.record(z.string(), z.unknown()),
  round_winner: id.nullable(),
  scores: points,
});

export const GameResult = compiled({
  ...match,
  epoch: z.int().nullish(),
  winner: id.nullable(),
  final_scores: points,
  match_points: points,
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason: z.string(),
  seed: z.string(),
  log_head: z.string(),
});
export type GameResult = z.infer<typeof GameResult>;

/**
 * Sent by a referee to a player that has lost a match by a fault. The code is G002 if the player did not answer in
 * time.
 */
export const GameError = z.looseObject({ ...match, error_code: z.string(), message: z.string() });
export type GameError = z.infer<typeof GameError>;

export const WireFault = z.object({
  player_id: id,
  role: z.string(),
  /** Absent for a resignation, which is not an error. */
  code: z.enum(["G001", "G002"]).optional(),
  cause: z.string().max(100),
  detail: z.string().max(4000),
  raw: z.string().max(4000).optional(),
});
export type WireFault = z.infer<typeof WireFault>;

export const MatchResult = z.object({
  ...match,
  round_id: z.int(),
  epoch: z.int(),
  winner: id.nullable(),
  final_scores: points,
  match_points: points,
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason: z.string().max(2000),
  faults: z.array(WireFault).max(10),
  log_head: z.string(),
  /** The stored texts of the entries, in order. The hash chain over them ends in `log_head`. */
  log: z.array(z.string()).max(20_000),
  /** By player; absent for players that were not asked for a move. They do not follow from the log. */
  answer_times: z.record(id, AnswerTimes).nullish(),
});
export type MatchResult = z.infer<typeof MatchResult>;

/** Sent by the manager to a referee that did not answer. The match has been assigned to another referee. */
export const MatchWithdrawn = z.object({ ...match, epoch: z.int() });
