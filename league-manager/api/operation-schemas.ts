/** The arguments and results of the tools by which an operator follows and changes leagues. */
import { z } from "zod";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import { id } from "#shared/protocol/message-fields.ts";

export const StatusRequest = z.object({ league_id: id.optional().describe("default: all leagues") });
export const ExtendLeague = z.object({
  league_id: id,
  format_options: z
    .record(z.string(), z.number())
    .refine((options) => Object.keys(options).length > 0, "names no option")
    .describe('the raised numbers of the format, e.g. {"rounds": 7} of swiss, {"cycles": 2} of round-robin'),
});
export const AddPlayer = z.object({ league_id: id, player_id: id });
export const AnnulMatch = z.object({
  league_id: id,
  match_id: id,
  reason: z.string().min(1).max(300).describe("the reason, which is public"),
});

const changed = <S extends string>(status: S) => z.looseObject({ status: z.literal(status), league_id: id });
export const Paused = changed("PAUSED");
export const Resumed = changed("RESUMED");
export const Extended = changed("EXTENDED");
export const Ended = changed("ENDED");
export const Added = changed("ADDED");
export const Annulled = changed("ANNULLED");

export const LeagueStatus = z.object({
  leagues: z.array(
    z.object({
      league_id: id,
      game: z.string(),
      format: z.string(),
      format_options: z.record(z.string(), z.unknown()),
      late_entry: z.enum(["closed", "forfeit", "makeup"]).describe("the rule for players that enter after the start"),
      clock: z
        .object({ initial_ms: z.number(), increment_ms: z.number() })
        .nullable()
        .describe("the clocks of each match; null without clocks"),
      version: z.int().describe("the number of events of the league"),
      status: z.string().describe("open, running, paused or completed"),
      starts_at: z.string().nullable().describe("an open league does not start before this time"),
      waits_for: z.string().nullable().describe("the players and referees that an open league waits for"),
      current_round: z.int().nullable(),
      rounds: z.int().describe("the number of rounds that are paired"),
      round_ends_at: z
        .string()
        .nullable()
        .describe("the time at which open matches of the current round are cancelled"),
      matches: z.int().describe("the number of matches that are paired"),
      completed: z.int(),
      being_played: z.int().describe("the number of matches that are assigned to a referee"),
      expected_matches: z.int().nullable().describe("the number of matches at the end; null if it is not known"),
      result: z
        .object({
          state: z.enum(["continue", "H0", "H1"]),
          llr: z.number().describe("the log-likelihood ratio of H1 and H0"),
          lower: z.number().describe("H0 is accepted at or below this ratio"),
          upper: z.number().describe("H1 is accepted at or above this ratio"),
          pairs: z.array(z.int()).describe("pairs of matches with 0, ½, 1, 1½ and 2 points of the first player"),
          text: z.string(),
        })
        .nullable()
        .describe("the result so far of a sequential test; null for other formats and before the start"),
      players: z.array(
        z.object({
          player_id: id,
          display_name: z.string(),
          state: z.enum(agentStates).nullable(),
          rank: z.int(),
          points: z.number(),
        }),
      ),
    }),
  ),
  referees: z.array(
    z.object({
      referee_id: id,
      state: z.enum(agentStates),
      answers: z.boolean().describe("false while the referee does not answer the manager"),
      max_matches: z.int(),
    }),
  ),
});
export type LeagueStatus = z.infer<typeof LeagueStatus>;
