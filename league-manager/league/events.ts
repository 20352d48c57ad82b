import { z } from "zod";
import "#shared/lib/schema-messages.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { WireFault } from "#shared/protocol/messages.ts";

/** The format version of these events. Every event carries it as `v`. */
export const LEAGUE_FORMAT_VERSION = 1;

/** The stream of a league's events. */
export const leagueStream = (leagueId: string): string => `league:${leagueId}`;

const id = z.string().min(1).max(200);
const epoch = z.int().min(1);
const roundId = z.int().min(1);
const common = { v: z.literal(LEAGUE_FORMAT_VERSION), at: z.string() };
/** Player ids in the order of the game's roles. */
const players = z.array(id).min(1).readonly();

/** The clocks of the matches; absent for matches without clocks. */
const clock = TimeControl.optional();

/** The maximum number of matches that a format can pair at once, in formats that open their rounds at once. */
export const MAX_SLOTS = 1_000;

/** The maximum number of characters of a reason that quotes a referee. */
export const QUOTED_CHARACTERS = 300;
/** The limit is that of the reason in MATCH_RESULT. */
const reason = z.string().max(2_000);

/** The reasons why a match was taken from its referee. `aborted` and `overdue` count as aborts of the match. */
export const releaseReasons = ["aborted", "overdue", "unreachable", "refused"] as const;
export type ReleaseReason = (typeof releaseReasons)[number];

/** A format, its options and the teams as in the config. Logs of earlier versions have only the format. */
const format = {
  format: id,
  format_options: z.record(z.string(), z.unknown()).optional(),
  /** The tie-breaks of the standings; absent for those of the format. */
  tie_breaks: z.array(id).readonly().optional(),
  /** The player ids of each team; absent if each player plays for itself. */
  teams: z.array(z.array(id).min(1).readonly()).readonly().optional(),
  /** The options of the rounds, in turn: round n has the options number n - 1, and after the last ones the first ones again. */
  openings: z.array(z.record(z.string(), z.unknown())).min(1).readonly().optional(),
};

/** The rules of the operation of a league. Logs of earlier versions have none of them. */
const operation = {
  /** Whether players may enter after the start; absent for `closed`. */
  late_entry: z.enum(["forfeit", "makeup"]).optional(),
  /** The time before which the league does not start. */
  starts_at: z.string().optional(),
  /** The time within which the matches of a round must be completed. */
  round_ms: z.int().min(1).optional(),
};

const Absence = z.strictObject({ player_id: id, agent_version: z.int().min(1), removed: z.literal(true).optional() });

/** The result of a match. The keys of scores and points are player ids. */
const MatchSummary = z.strictObject({
  winner: id.nullable(),
  final_scores: z.record(z.string(), z.number()),
  match_points: z.record(z.string(), z.number()),
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason,
  faults: z.array(WireFault).readonly(),
  /** The hash of the last entry of the match's session log; empty for a match without a log. */
  log_head: z.string(),
});
export type MatchSummary = Readonly<z.infer<typeof MatchSummary>>;

/**
 * The events of one league. `at` is a time in ISO 8601, UTC. Events name agents by id. Names, addresses and secrets are rows of tables, so that they
 * can be erased; events contain commitments to them.
 */
export const LeagueEvent = z.compile(
  z.discriminatedUnion("type", [
    z.strictObject({
      ...common,
      type: z.literal("opened"),
      league_id: id,
      /** The league of the config whose settings the league has; absent for a league of the config. */
      like: id.optional(),
      run_id: id,
      game: id,
      /** In the order in which `players` of a pairing are listed. */
      roles: z.array(id).min(1).readonly(),
      /** The options of the game as in the config. */
      options: z.record(z.string(), z.unknown()),
      clock,
      ...format,
      ...operation,
      /** SHA-256 of the league's seed, lowercase hex. */
      seed_commitment: z.string(),
    }),
    /** The config has changed before the league started. */
    z.strictObject({
      ...common,
      type: z.literal("reconfigured"),
      game: id,
      roles: z.array(id).min(1).readonly(),
      options: z.record(z.string(), z.unknown()),
      clock,
      ...format,
      ...operation,
    }),
    /**
     * `name_commitment` is the SHA-256 of the salt, a newline and the display name; the salt is in the player's profile. `entered_after` is the number of
     * rounds that were paired when the player entered a running league. `by_operator` states that the operator added the player.
     */
    z.strictObject({
      ...common,
      type: z.literal("player_entered"),
      player_id: id,
      name_commitment: z.string(),
      entered_after: z.int().min(0).optional(),
      by_operator: z.literal(true).optional(),
    }),
    /**
     * After the start: the player is shut down, so that the format pairs it no more. `agent_version` is then the version of the player's stream at which
     * it was shut down. In logs of earlier versions no player leaves after the start.
     */
    z.strictObject({
      ...common,
      type: z.literal("player_left"),
      player_id: id,
      agent_version: z.int().min(1).optional(),
    }),
    z.strictObject({ ...common, type: z.literal("started") }),
    z.strictObject({
      ...common,
      type: z.literal("round_paired"),
      round_id: roundId,
      pairings: z
        .array(
          z.strictObject({
            match_id: id,
            players,
            /** Options of the game for this match, which take precedence over those of the league. */
            options: z.record(z.string(), z.unknown()).optional(),
          }),
        )
        .readonly(),
      byes: z.array(id).readonly(),
      /** The name of the round for people. */
      label: z.string().min(1).max(200).optional(),
      /**
       * Only in formats that open their rounds at once: the number of matches that could be started when the round was paired. The round is opened by
       * this event.
       */
      slots: z.int().min(0).max(MAX_SLOTS).optional(),
    }),
    /**
     * The format adds no more rounds. If the result of the league is decided, the following events cancel the matches that are not completed. With
     * `by` the operator has ended the league, and the following events cancel all matches that are not completed. Logs of earlier versions do not have
     * this event.
     */
    z.strictObject({ ...common, type: z.literal("pairing_completed"), by: z.literal("operator").optional() }),
    /**
     * All earlier rounds are completed. `absent` lists the players of the round that are shut down. The following events forfeit their matches of
     * this round. `agent_version` is the version of the player's stream at which it was shut down. `removed` states that the operator removed the
     * player; logs of earlier versions do not have this field.
     */
    z.strictObject({
      ...common,
      type: z.literal("round_opened"),
      round_id: roundId,
      absent: z.array(Absence).readonly(),
    }),
    /** The time of the round is over. The following events cancel its matches that are not completed. */
    z.strictObject({ ...common, type: z.literal("round_expired"), round_id: roundId }),
    /** Each player of the league has received ROUND_ANNOUNCEMENT and ROUND_START, or has not answered in time. */
    z.strictObject({ ...common, type: z.literal("round_announced"), round_id: roundId }),
    /** An operator has added a match. */
    z.strictObject({ ...common, type: z.literal("match_scheduled"), match_id: id, round_id: roundId, players }),
    z.strictObject({ ...common, type: z.literal("match_assigned"), match_id: id, epoch, referee_id: id }),
    /** The match has been taken from its referee. Its epoch is then `epoch` + 1. */
    z.strictObject({
      ...common,
      type: z.literal("match_released"),
      match_id: id,
      epoch,
      referee_id: id,
      reason: z.enum(releaseReasons),
      detail: reason,
    }),
    /** A referee has acknowledged the withdrawal of a match, or is no longer registered. Before this event the match counts against its capacity. */
    z.strictObject({ ...common, type: z.literal("withdrawal_settled"), match_id: id, epoch, referee_id: id }),
    /** `referee_id` is null if the manager determined the result: a forfeit of players that are shut down. */
    z.strictObject({
      ...common,
      type: z.literal("match_completed"),
      match_id: id,
      epoch,
      referee_id: id.nullable(),
      ...MatchSummary.shape,
    }),
    /** The match has been aborted too often. It gives no points. `referee_id` is null if the match was overdue. */
    z.strictObject({
      ...common,
      type: z.literal("match_aborted"),
      match_id: id,
      epoch,
      referee_id: id.nullable(),
      reason,
      log_head: z.string(),
    }),
    /**
     * The operator has annulled the match, which counts for no player. `match_points` are the points that a completed match had given; absent for a match
     * that was open.
     */
    z.strictObject({
      ...common,
      type: z.literal("match_annulled"),
      match_id: id,
      epoch,
      reason,
      match_points: z.record(z.string(), z.number()).optional(),
    }),
    /** No match is assigned and no round is paired or opened until `resumed`. Matches that have begun are played to their end. */
    z.strictObject({ ...common, type: z.literal("paused") }),
    z.strictObject({ ...common, type: z.literal("resumed") }),
    /** The operator has raised numbers in the options of the format, such as the number of rounds. */
    z.strictObject({ ...common, type: z.literal("extended"), format_options: z.record(z.string(), z.unknown()) }),
    /** The match is not played, because the league or the time of its round has ended before it was completed. */
    z.strictObject({ ...common, type: z.literal("match_cancelled"), match_id: id, epoch }),
    z.strictObject({ ...common, type: z.literal("completed") }),
  ]),
);
export type LeagueEvent = Readonly<z.infer<typeof LeagueEvent>>;

/** The event of a type. */
export type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/** The types of events of a league. */
export const LEAGUE_EVENT_TYPES: readonly LeagueEvent["type"][] = LeagueEvent.options.map(
  ({ shape }) => shape.type.value,
);

/** Parses a stored event of a league; throws on text that is not an event. */
export const parseLeagueEvent = (body: string): LeagueEvent => LeagueEvent.parse(JSON.parse(body));
