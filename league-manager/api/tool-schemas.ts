import { z } from "zod";
import { knownGameIds } from "#shared/games/registry.ts";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import { DisplayName, id, LeagueId as NewLeagueId } from "#shared/protocol/message-fields.ts";
import { BotHash } from "#shared/protocol/messages.ts";

// Arguments of the league manager's tools in plain form (PROTOCOL.md, section 4).
const version = z.string().max(100).default("1.0.0");

export const PlainRegisterPlayer = z
  .object({
    player_name: DisplayName,
    endpoint: z
      .string()
      .max(2000)
      .optional()
      .describe(
        "the URL at which referees call the player; default: none, and the player polls the inbox in the answer",
      ),
    version,
    bot_hash: BotHash.optional().describe(
      "identifies the version of the bot in ratings over several runs, e.g. the SHA-256 of its file",
    ),
    game_types: z.array(id).max(100).optional(),
    announcements: z.boolean().optional().describe("false: the player receives no messages about rounds and standings"),
    join_code: z.string().max(1000).optional(),
  })
  .transform(({ player_name, endpoint, game_types = [...knownGameIds()], ...rest }) => ({
    ...rest,
    display_name: player_name,
    contact_endpoint: endpoint,
    game_types,
  }));

export const PlainRegisterReferee = z
  .object({
    referee_name: DisplayName,
    endpoint: z.string().max(2000),
    version,
    game_types: z.array(id).max(100).optional(),
    join_code: z.string().max(1000).optional(),
    max_concurrent_matches: z.int().min(1).max(100_000).default(64),
  })
  .transform(({ referee_name, endpoint, game_types = [...knownGameIds()], ...rest }) => ({
    ...rest,
    display_name: referee_name,
    contact_endpoint: endpoint,
    game_types,
  }));

// Results of the tools.
const Role = z.record(z.string(), z.string()).describe("role to player id");
export const Standings = z.object({
  standings: z.array(
    z.object({
      league_id: z.string(),
      rank: z.int().describe("players whose tie-breaks are all equal share a rank"),
      player_id: z.string(),
      display_name: z.string(),
      played: z.int(),
      wins: z.int(),
      draws: z.int(),
      losses: z.int(),
      byes: z.int().optional().describe("absent if no player has had a bye"),
      points: z.number(),
      tie_breaks: z
        .record(z.string(), z.number().nullable())
        .optional()
        .describe("the tie-breaks without a column, by their ids, in their order; null if one does not apply"),
      state: z
        .enum(agentStates)
        .nullable()
        .describe("the player's lifecycle state; SHUTDOWN is also the state after the end of all its leagues"),
    }),
  ),
});
export const Ratings = z.object({
  league_id: z.string(),
  model: z
    .enum(["bradley-terry", "openskill"])
    .describe("bradley-terry: Elo points, 1500 is the average of the players; openskill: ratings of members of teams"),
  matches: z.int().describe("number of rated matches; aborted ones and those that all players lost do not count"),
  players: z
    .array(
      z.object({
        player_id: z.string(),
        display_name: z.string(),
        rating: z.number(),
        error: z.number().describe("half of the width of the 95% interval"),
        matches: z.int(),
        percent: z.number().nullable().describe("share of the points, a draw as half a win; null without matches"),
      }),
    )
    .describe("the strongest player first"),
  comparisons: z
    .array(
      z.object({
        player_id: z.string().describe("the player with the higher rating"),
        other_id: z.string(),
        difference: z.number(),
        error: z.number().describe("half of the width of the 95% interval of the difference"),
        likelihood: z.number().describe("probability that the player is stronger than the other, from 0.5 to 1"),
        significant: z.boolean().describe("false: the results do not show yet which of the two is stronger"),
      }),
    )
    .describe("every pair of at most 20 players; with more players each player and the next one of the list"),
});
export const Schedule = z.object({
  schedule: z.array(
    z.object({
      league_id: z.string(),
      round_id: z.int(),
      match_id: z.string(),
      roles: Role,
      status: z.string(),
      referee_id: z.string().nullable(),
      winner: z
        .string()
        .nullable()
        .describe(
          "the id of the winner; null for an open match, a draw, and a win of a team, whose players get 3 points each",
        ),
      points: z.record(z.string(), z.number()).nullable(),
      termination: z.string().nullable(),
      reason: z.string().nullable(),
      label: z.string().optional().describe('the name of the round, e.g. "Final"'),
    }),
  ),
  byes: z
    .array(z.object({ league_id: z.string(), round_id: z.int(), players: z.array(z.string()) }))
    .optional()
    .describe("the players without a match in the listed rounds, if there are any"),
  truncated: z.literal(true).optional().describe("only the rounds around the current one are listed"),
  total: z.int().optional().describe("number of matches of the complete schedule, if truncated"),
  completed: z.int().optional(),
  rounds: z.int().optional().describe("number of rounds of the complete schedule, if truncated"),
  current_round: z.int().nullable().optional(),
  rest: z.string().optional().describe("the URI template of the resources that show one round each"),
});
export const Leagues = z.object({
  leagues: z.array(
    z.object({
      league_id: z.string(),
      game: z.string(),
      game_name: z.string().optional(),
      status: z.string(),
      players: z.int(),
      max_players: z.int().nullable(),
    }),
  ),
});
export const OpenLeague = z.object({
  league_id: NewLeagueId.describe("the id of the new league"),
  like: id.describe("the id of a league that is over; the new league has its settings in the config"),
});
export const Opened = z.object({
  status: z.literal("OPENED"),
  league_id: id,
  like: id.describe("the league of the config whose settings the new league has"),
});
export const Started = z.looseObject({ status: z.literal("STARTED"), league_id: id });
export const Scheduled = z.object({
  status: z.literal("SCHEDULED"),
  league_id: id,
  match_id: id,
  round_id: z.int(),
  roles: Role,
});
export const Removed = z.object({ status: z.literal("REMOVED"), player_id: id });

export const Forgotten = z.object({ status: z.literal("FORGOTTEN"), player_id: id });

export const TokenReset = z.object({
  status: z.literal("RESET"),
  player_id: id,
  auth_token: z.string().describe("the player's new token; the old one is no longer valid"),
});

export const LeagueId = z.object({ league_id: id });
export const GetSchedule = z.object({
  league_id: id,
  round_id: z
    .int()
    .min(1)
    .optional()
    .describe("selects one round; default: all rounds, or the rounds around the current one of a long schedule"),
});
export const PlayerId = z.object({ player_id: id });
export const ScheduleMatch = z
  .object({
    player1_id: id.optional().describe("with player2_id: the two players, for a game of two roles"),
    player2_id: id.optional(),
    players: z
      .array(id)
      .min(2)
      .max(100)
      .optional()
      .describe(
        "instead of player1_id and player2_id: one player id for each role of the game, in the order of the roles",
      ),
    round_id: z.int().min(1).describe("the current round, a later one, or the one after the last"),
    league_id: id.optional().describe("default: the only running league that has all these players"),
  })
  .superRefine(({ player1_id, player2_id, players }, { addIssue }) => {
    const fault = (path: string, message: string): void => addIssue({ code: "custom", path: [path], message });
    if (players !== undefined) {
      if (player1_id !== undefined || player2_id !== undefined)
        fault("players", "pass either players or player1_id and player2_id");
      else if (new Set(players).size < players.length) fault("players", "a player cannot play against itself");
      return;
    }
    if (player1_id === undefined) fault("player1_id", "is required if players is missing");
    if (player2_id === undefined) fault("player2_id", "is required if players is missing");
    else if (player1_id === player2_id) fault("player2_id", "a player cannot play against itself");
  });

// The arguments and results of the tools by which an operator follows and changes leagues.

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
