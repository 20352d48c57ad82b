import { z } from "zod";
import "#shared/lib/schema-messages.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { WireFault } from "#shared/protocol/messages.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { League, Match } from "../../league-manager/league/league.ts";

// Fields are exported in the order of these schemas. An export with another order is not sound.

/** The maximum number of players of a league. An export is untrusted input, and the schedule grows with the square of this number. */
export const MAX_PLAYERS = 1_000;

const isMatchPoints = (points: number): boolean => Object.values<number>(POINTS).includes(points);

/** A match with all data that a replay needs. */
export const ExportedMatch = z.strictObject({
  league_id: z.string(),
  match_id: z.string(),
  round_id: z.int(),
  game: z.string(),
  options: z.unknown(),
  /** Absent for a match without clocks. */
  clock: TimeControl.optional(),
  /** Player ids by role. */
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
  /** The seed of the match in this epoch. */
  seed: z.string(),
  /** The stored texts of the entries of the session log; empty for a match that was not played. */
  log: z.array(z.string()),
  /** The session log of the result that was annulled. Absent for other matches, and in exports of earlier versions. */
  annulled_log: z.array(z.string()).optional(),
});
export type ExportedMatch = z.infer<typeof ExportedMatch>;

const league = {
  league_id: z.string(),
  game: z.string(),
  options: z.unknown(),
  /** Absent for matches without clocks. */
  clock: TimeControl.optional(),
  status: z.string(),
};
const played = {
  /** The ids of the completed matches. */
  matches: z.array(z.string()),
  standings: z.array(z.record(z.string(), z.unknown())),
};
const player = { player_id: z.string(), display_name: z.string() };
const run = {
  /** The seed of the run. It is null until every league is completed, because the seeds of later matches are derived from it. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
};

/** A league in the format of earlier versions, which exported no league log. */
export const UnloggedLeague = z.strictObject({ ...league, players: z.array(z.strictObject(player)), ...played });
export type UnloggedLeague = z.infer<typeof UnloggedLeague>;

/** In v1 a match has one seed for all its epochs, in v2 one seed for each epoch. All seeds are derived from the seed of the run. */
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
  /** The players in the order of their entry. The salt belongs to the commitment of the name; it is null if the name is erased. */
  players: z.array(z.strictObject({ ...player, salt: z.string().nullable() })),
  /** The seed of the league; null until the league is completed. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
  /** The hash of the last event of the league's log. */
  log_head: z.string(),
  /** The format and its options as in the config; absent in exports of earlier versions, which have only round robins. */
  format: z.string().optional(),
  format_options: z.record(z.string(), z.unknown()).optional(),
});
export type LoggedLeague = z.infer<typeof LoggedLeague>;

/** The content of `league.json` in the current format. */
export const LoggedRun = z.strictObject({
  format: z.literal("agent-league.export.v3"),
  run_id: z.string(),
  ...run,
  leagues: z.array(LoggedLeague),
  /** The players of the leagues, each with the hash of the last event of its log. */
  agents: z.array(z.strictObject({ agent_id: z.string(), log_head: z.string() })),
});
export type LoggedRun = z.infer<typeof LoggedRun>;

/** The content of `league.json` in any supported format. */
export const ExportedRun = z.discriminatedUnion("format", [UnloggedRun, LoggedRun]);
export type ExportedRun = z.infer<typeof ExportedRun>;

/** Returns the matches of a league that are exported, in the order of the export. */
export const completedMatches = ({ rounds }: League): readonly Match[] =>
  rounds.flatMap(({ matches }) => matches.filter(({ status }) => status === "completed"));
