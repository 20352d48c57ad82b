import { z } from "zod";
import { inOneLine } from "#shared/lib/text.ts";
import { ClockState, TimeControl } from "#shared/lib/time-control.ts";
import { agentStates } from "./lifecycle.ts";
import {
  AnswerTimes,
  compiled,
  DisplayName,
  endpoint,
  HistoryForm,
  id,
  MatchCapacity,
  MoveLimit,
  match,
  OmittedHistory,
  points,
  roleMap,
  Transports,
} from "./message-fields.ts";

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

// The messages of the manager about rounds and standings.

const scheduledMatch = z.object({ match_id: id, game: id, roles: roleMap(id), referee_endpoint: endpoint.nullish() });
const standing = z.object({
  rank: z.int(),
  player_id: id,
  display_name: z.string(),
  played: z.int(),
  wins: z.int(),
  draws: z.int(),
  losses: z.int(),
  byes: z.int().optional(),
  points: z.number(),
  tie_breaks: z.record(z.string(), z.number().nullable()).optional(),
  state: z.enum(agentStates).nullish(),
});

/**
 * The fields of a shortened list. If a list has more than 100 entries, only those of the recipient are sent:
 * `truncated` is true, `total` is the number of all entries, and `resource` names the resource with the whole list.
 */
const list = {
  truncated: z.boolean().optional(),
  total: z.int().optional(),
  resource: z.string().max(1000).optional(),
};

export const RoundAnnouncement = compiled({
  league_id: id,
  round_id: z.int(),
  /** The name of the round for people. */
  label: z.string().optional(),
  matches: z.array(scheduledMatch),
  /** The players without a match in the round; absent if there are none, or more than 100. */
  byes: z.array(id).optional(),
  ...list,
});
export const RoundStart = z.object({ league_id: id, round_id: z.int() });
export const RoundEnd = z.object({
  league_id: id,
  round_id: z.int(),
  matches_completed: z.int(),
  next_round_id: z.int().nullable(),
  summary: z.record(z.string(), z.unknown()),
  ...list,
});
export type RoundEnd = z.infer<typeof RoundEnd>;
export const StandingsUpdate = compiled({ league_id: id, round_id: z.int(), standings: z.array(standing), ...list });
export type StandingsUpdate = z.infer<typeof StandingsUpdate>;

// Registration of referees and players with the league manager.

/** Any text is accepted here, so that a wrong join code is rejected as a wrong code and not as a malformed message. */
const join_code = z.string().max(1000).nullish();

/**
 * An element of a player's `game_types`: every other game of the manager. MOVE_REQUEST lists the legal actions of such a
 * game even if the player has `legal_actions: false`, because the player may not know the rules.
 */
export const ANY_GAME = "*";

/** The hash of a bot: a hexadecimal hash, or another short text such as a git commit. */
export const BotHash = z.string().regex(/^[\w.+:-]{1,100}$/, "a bot_hash has 1 to 100 letters, digits, or . + : - _");

export const RefereeRegisterRequest = z.object({
  display_name: DisplayName,
  version: z.string().max(100).default("1.0.0"),
  game_types: z.array(id).max(100),
  contact_endpoint: endpoint,
  max_concurrent_matches: MatchCapacity,
  transports: Transports.nullish(),
  /** Whether people can open pages of the referee at the origin of its endpoint. */
  has_pages: z.boolean().nullish(),
  /** The join code of the league. */
  join_code,
});
export type RefereeRegisterRequest = z.infer<typeof RefereeRegisterRequest>;

export const PlayerRegisterRequest = z.object({
  display_name: DisplayName,
  version: z.string().max(100).default("1.0.0"),
  game_types: z.array(id).max(100),
  /** Identifies the version of the bot, e.g. the SHA-256 of its file. Ratings over several runs distinguish its versions by it. */
  bot_hash: BotHash.nullish(),
  /** null or absent: the player cannot be called, and polls an inbox at the manager. */
  contact_endpoint: endpoint.nullish(),
  league_ids: z.array(id).max(100).nullish(),
  /** false: MOVE_REQUEST does not list the legal actions. */
  legal_actions: z.boolean().nullish(),
  /** false: ROUND_RESULT is not sent to the player. The player's next view also contains the round. */
  round_results: z.boolean().nullish(),
  /** Accepted for players of earlier versions, and ignored. */
  batch: z.boolean().nullish(),
  /** false: announcements of rounds and standings are not sent to the player. */
  announcements: z.boolean().nullish(),
  /** `delta`: the views of later requests lack the part of their history that the player has received. */
  history: HistoryForm.nullish(),
  transports: Transports.nullish(),
  /** true: a person, or a model that calls tools, chooses the moves. A match of such a player waits longer for a silent referee. */
  by_hand: z.boolean().nullish(),
  /** The join code of the league. */
  join_code,
});
export type PlayerRegisterRequest = z.infer<typeof PlayerRegisterRequest>;

const registerResponse = {
  status: z.enum(["ACCEPTED", "REJECTED"]),
  auth_token: z.string().max(1000).nullish(),
  league_ids: z.array(id).nullish(),
  reason: z.string().nullish(),
  error_code: z.string().nullish(),
  /** true: the registration may be accepted if the agent registers again after a second. */
  retryable: z.boolean().nullish(),
  /** Identifies the reason of some rejections for programs. Absent in answers of earlier versions. */
  cause: z.string().max(100).nullish(),
};
export const PlayerRegisterResponse = z.object({
  ...registerResponse,
  player_id: id.nullish(),
  /** The URL of the inbox of a player that was registered without an endpoint. */
  inbox: endpoint.nullish(),
  /** `native`: the player is called with the messages of this protocol. Absent in answers of earlier versions. */
  dialect: z.string().max(100).nullish(),
});
export type PlayerRegisterResponse = z.infer<typeof PlayerRegisterResponse>;
export const RefereeRegisterResponse = z.object({
  ...registerResponse,
  referee_id: id.nullish(),
  /** The matches that are still assigned to a referee that registers again. */
  matches: z.array(StartGame).nullish(),
  /** The transports of the manager. Only for referees that offer transports. */
  transports: Transports.nullish(),
  /** The origins of the pages of the manager. Only for referees with pages. */
  page_urls: z.array(endpoint).max(100).nullish(),
});
export type RefereeRegisterResponse = z.infer<typeof RefereeRegisterResponse>;

/** A registered agent asks whether the manager still knows it. */
export const GetRegistration = z.object({ display_name: DisplayName });
