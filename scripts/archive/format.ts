import { z } from "zod";
import "#shared/lib/schema-messages.ts";
import { WireFault } from "#shared/protocol/messages.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { League, Match } from "../../league-manager/league/league.ts";

// The order of the fields is that in which they are exported. An export with another order is not sound.

/** The limit of players of a league. The file is untrusted, and the schedule grows with the square of its players. */
export const MAX_PLAYERS = 1_000;

const isMatchPoints = (points: number): boolean => Object.values<number>(POINTS).includes(points);

/** A match with everything that a replay needs. */
export const ExportedMatch = z.strictObject({
  league_id: z.string(),
  match_id: z.string(),
  round_id: z.int(),
  game: z.string(),
  options: z.unknown(),
  /** Role to player id. */
  roles: z.record(z.string(), z.string()),
  referee_id: z.string().nullable(),
  epoch: z.int(),
  winner: z.string().nullable(),
  match_points: z.record(z.string(), z.number().refine(isMatchPoints, "a match gives 3, 1 or 0 points")),
  final_scores: z.record(z.string(), z.number()),
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason: z.string(),
  faults: z.array(WireFault),
  log_head: z.string(),
  /** The seed of the match under its epoch. */
  seed: z.string(),
  /** The entries of the session log as they were stored, one text each; empty for a match that was not played. */
  log: z.array(z.string()),
});
export type ExportedMatch = z.infer<typeof ExportedMatch>;

const league = {
  league_id: z.string(),
  game: z.string(),
  options: z.unknown(),
  status: z.string(),
};
const played = {
  /** The ids of the completed matches. */
  matches: z.array(z.string()),
  standings: z.array(z.record(z.string(), z.unknown())),
};
const player = { player_id: z.string(), display_name: z.string() };
const run = {
  /** The seed of the run; null until every league is completed, because the seeds of later matches follow from it. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
};

/** A league of an export without a league log, as earlier versions wrote it. */
export const UnloggedLeague = z.strictObject({ ...league, players: z.array(z.strictObject(player)), ...played });
export type UnloggedLeague = z.infer<typeof UnloggedLeague>;

/** v1: a match has one seed for all its epochs; v2: one for each. The seeds follow from that of the run. */
export const UnloggedRun = z.strictObject({
  format: z.enum(["agent-league.export.v1", "agent-league.export.v2"]),
  ...run,
  leagues: z.array(UnloggedLeague),
});
export type UnloggedRun = z.infer<typeof UnloggedRun>;

/** A league with its log. Everything except the names can be recomputed from the log and the matches. */
export const LoggedLeague = z.strictObject({
  ...league,
  ...played,
  /** In the order of entry. The name is committed with the salt; null for a name that is erased. */
  players: z.array(z.strictObject({ ...player, salt: z.string().nullable() })),
  /** The seed of the league; null until it is completed. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
  /** The hash of the last event of its log. */
  log_head: z.string(),
});
export type LoggedLeague = z.infer<typeof LoggedLeague>;

export const LoggedRun = z.strictObject({
  format: z.literal("agent-league.export.v3"),
  run_id: z.string(),
  ...run,
  leagues: z.array(LoggedLeague),
  /** The players of the leagues, with the hash of the last event of their logs. */
  agents: z.array(z.strictObject({ agent_id: z.string(), log_head: z.string() })),
});
export type LoggedRun = z.infer<typeof LoggedRun>;

export const ExportedRun = z.discriminatedUnion("format", [UnloggedRun, LoggedRun]);
export type ExportedRun = z.infer<typeof ExportedRun>;

/** The matches of a league that are exported, in their order. */
export const completedMatches = ({ rounds }: League): readonly Match[] =>
  rounds.flatMap(({ matches }) => matches.filter(({ status }) => status === "completed"));
