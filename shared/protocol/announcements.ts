/** The messages of the manager about rounds and standings. */
import { z } from "zod";
import { agentStates } from "./lifecycle.ts";
import { compiled, endpoint, id, roleMap } from "./message-fields.ts";

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
