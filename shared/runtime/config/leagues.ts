import { z } from "zod";
import type { Format } from "#shared/formats/format.ts";
import { FORMATS, findFormat, formatIds } from "#shared/formats/registry.ts";
import { sidesOf } from "#shared/formats/teams.ts";
import type { Game } from "#shared/games/game.ts";
import { findGame, findGameNamed, gameIds, knownGameIds } from "#shared/games/registry.ts";
import { didYouMean } from "#shared/lib/text.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { LeagueId, MoveLimit } from "#shared/protocol/message-fields.ts";
import { isTieBreakId, TIE_BREAK_IDS } from "#shared/standings/tie-breaks.ts";
import { Openings } from "./openings.ts";

/** The maximum number of players of a team. */
const MAX_TEAM_PLAYERS = 4;

/** The config of one league. */
export const League = z
  .strictObject({
    league_id: LeagueId.describe("the league's id in URLs and file names"),
    game: z.string().describe(`${gameIds.join(", ")}, or the .ts or .js file of another game, relative to this file`),
    format: z
      .string()
      .default("round-robin")
      .describe(`how the players are paired: ${FORMATS.map(({ id, name }) => `${id} (${name})`).join(", ")}`),
    format_options: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('the options of the format, e.g. {"rounds": 5} of swiss'),
    tie_breaks: z
      .array(z.string().max(100))
      .min(1)
      .max(20)
      .optional()
      .describe(`the order of players with equal points (default: that of the format): ${TIE_BREAK_IDS.join(", ")}`),
    teams: z
      .array(z.array(z.string().min(1)).min(1).max(MAX_TEAM_PLAYERS))
      .min(2)
      .max(500)
      .optional()
      .describe(
        'players that win and lose together in all matches, by name: [["Ada", "Ben"], ["Cleo", "Dan"]]. The format pairs the teams, and the members take the roles in turn (default: each player plays for itself, and in a game of teams the partners change)',
      ),
    openings: Openings.optional(),
    late_entry: z
      .enum(["closed", "forfeit", "makeup"])
      .default("closed")
      .describe(
        "players that enter after the start: closed (none), forfeit (they play the rounds that are paired later; not in a round robin), makeup (in a round robin they also play the matches that they have missed)",
      ),
    starts_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'the time at which the league starts, with its time zone, e.g. "2026-05-04T14:00:00+02:00" (default: when its players are registered)',
      ),
    round_ms: z
      .int()
      .min(1_000)
      .max(30 * 24 * 3_600_000)
      .optional()
      .describe(
        "the time for each round, milliseconds; matches that are not completed by then are cancelled and count for no player (default: no limit)",
      ),
    options: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('the options of the game, e.g. {"best_of": 5}; its rules list them'),
    clock: TimeControl.optional().describe(
      'the clocks of the matches, e.g. {"initial_ms": 60000, "increment_ms": 1000}; a player whose time is over loses the match (default: no clocks)',
    ),
    move_ms: MoveLimit.optional().describe(
      "the time limit for a move in this league, milliseconds; with clocks, the earlier limit applies (default: timeouts.move_ms, or only the clock in a league with clocks)",
    ),
    max_players: z
      .int()
      .min(2)
      .max(1_000)
      .optional()
      .describe(
        "the maximum number of players: further players are rejected with L002; in a run it must be at least the size of the roster",
      ),
    min_players: z
      .int()
      .min(2)
      .max(1_000)
      .optional()
      .describe(
        "the number of registered players at which the league starts; a run starts with its roster, which must have at least this many players",
      ),
  })
  .superRefine((league, context) => {
    const game = findGame(league.game);
    if (!game) {
      context.addIssue({ code: "custom", path: ["game"], message: unknownGame(league.game) });
    } else {
      for (const field of ["max_players", "min_players"] as const) {
        if (league[field] === undefined || league[field] >= game.roles.length) continue;
        const message = `must be at least ${game.roles.length}, the number of players in a match of ${league.game}`;
        context.addIssue({ code: "custom", path: [field], message });
      }
      checkOptions(context, "options", "game", game.options, league.options);
      for (const [index, opening] of (Array.isArray(league.openings) ? league.openings : []).entries()) {
        const fault = game.options.safeParse({ ...league.options, ...opening }).error?.issues[0];
        if (fault) {
          const message = `is not an opening of ${game.id}: ${fault.message}`;
          context.addIssue({ code: "custom", path: ["openings", index], message });
        }
      }
    }
    for (const [index, id] of (league.tie_breaks ?? []).entries()) {
      if (!isTieBreakId(id))
        context.addIssue({ code: "custom", path: ["tie_breaks", index], message: unknownTieBreak(id) });
    }
    const format = findFormat(league.format);
    if (!format) {
      context.addIssue({ code: "custom", path: ["format"], message: unknownFormat(league.format) });
    } else {
      checkOptions(context, "format_options", "format", format.options, league.format_options);
      if (league.round_ms !== undefined && format.opensRounds === "at_once") {
        const message = `${format.id} plays several rounds at the same time, so a round has no time limit`;
        context.addIssue({ code: "custom", path: ["round_ms"], message });
      }
      const lateFault = game && faultOfLateEntry(league, format, game);
      if (lateFault) context.addIssue({ code: "custom", path: ["late_entry"], message: lateFault });
      const sides = game && sidesOf(game, game.roles);
      if (sides && format.roles === "two" && (league.teams ? sides : game.roles).length !== 2) {
        const ofTeams = sides.length === 2 ? ", or list the teams in teams" : "";
        const message = `${format.id} is for games of two roles, and ${game.id} has ${game.roles.length}. Use ${formatsForAnyGame()}${ofTeams}.`;
        context.addIssue({ code: "custom", path: ["format"], message });
      }
    }
    checkTeams(context, league.teams ?? [], game);
  });
export type LeagueConfig = z.infer<typeof League>;

/** Reports teams with too few players for the roles of a side, and players in two teams. */
function checkTeams(context: z.RefinementCtx, teams: readonly (readonly string[])[], game: Game | undefined): void {
  const size = game ? (sidesOf(game, game.roles)[0]?.length ?? 1) : 1;
  const seen = new Set<string>();
  for (const [index, members] of teams.entries()) {
    if (members.length < size) {
      const message = `a team of ${game?.id} needs at least ${size} players, and this one has ${members.length}`;
      context.addIssue({ code: "custom", path: ["teams", index], message });
    }
    for (const [member, name] of members.entries()) {
      if (seen.has(name)) {
        const message = `${JSON.stringify(name)} is in two teams`;
        context.addIssue({ code: "custom", path: ["teams", index, member], message });
      }
      seen.add(name);
    }
  }
}

function unknownGame(game: string): string {
  const namedGame = findGameNamed(game);
  const hint = namedGame ? `. Did you mean ${JSON.stringify(namedGame.id)}?` : didYouMean(game, knownGameIds());
  return `unknown game ${JSON.stringify(game)}${hint || `. Known games: ${knownGameIds().join(", ")}, or a .ts or .js file.`}`;
}

function unknownFormat(format: string): string {
  return `unknown format ${JSON.stringify(format)}${didYouMean(format, formatIds) || `. Known formats: ${formatIds.join(", ")}.`}`;
}

const unknownTieBreak = (id: string): string =>
  `unknown tie-break ${JSON.stringify(id)}${didYouMean(id, TIE_BREAK_IDS) || `. Tie-breaks: ${TIE_BREAK_IDS.join(", ")}.`}`;

const formatsForAnyGame = (): string =>
  FORMATS.filter(({ roles }) => roles === "any")
    .map(({ id }) => id)
    .join(" or ");

/** Reports the faults of the options of a game or format. */
function checkOptions(
  context: z.RefinementCtx,
  field: "options" | "format_options",
  owner: "game" | "format",
  schema: z.ZodType,
  options: unknown,
): void {
  for (const issue of schema.safeParse(options).error?.issues ?? []) {
    const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    const message = unknown.length > 0 ? unknownOption(unknown[0], owner, schema) : issue.message;
    context.addIssue({ code: "custom", path: [field, ...issue.path, ...unknown], message });
  }
}

function unknownOption(name: string | undefined, owner: "game" | "format", schema: z.ZodType): string {
  const { properties = {} } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const names = Object.keys(properties);
  const known = names.length === 0 ? `This ${owner} has no options.` : `Options of this ${owner}: ${names.join(", ")}.`;
  return `unknown option ${JSON.stringify(name)}${didYouMean(name, names) || `. ${known}`}`;
}

const LATE_ENTRY = ["makeup", "forfeit", "closed"] as const;

interface LateEntryConfig {
  readonly format: string;
  readonly format_options: Readonly<Record<string, unknown>>;
  readonly late_entry: (typeof LATE_ENTRY)[number];
  readonly teams?: unknown;
}

/** The options of the format of a league. Late entries that make up for their missed matches are an option of a round robin. */
export const withLateEntry = ({ format, format_options, late_entry }: LateEntryConfig): Record<string, unknown> => ({
  ...format_options,
  ...(format === "round-robin" && late_entry === "makeup" && { makeup: true }),
});

/** Returns why `late_entry` of a league does not suit its format, or null if the format has matches for late entries. */
function faultOfLateEntry(league: LateEntryConfig, format: Format, game: Game): string | null {
  const takes = (late_entry: LateEntryConfig["late_entry"]): boolean => {
    if (late_entry === "closed") return true;
    const options = format.options.safeParse(withLateEntry({ ...league, late_entry }));
    // Options with a fault are reported as such.
    if (!options.success) return true;
    return !league.teams && (format.takesLateEntries?.(options.data, game.roles.length) ?? true);
  };
  if (takes(league.late_entry)) return null;
  const accepted = LATE_ENTRY.filter(takes).map((value) => JSON.stringify(value));
  const competition = league.teams ? "a league of teams" : `${format.id} in a game of ${game.roles.length} roles`;
  return `${competition} has no matches for players that enter after the start with ${JSON.stringify(league.late_entry)}. Use ${accepted.join(" or ")}.`;
}
