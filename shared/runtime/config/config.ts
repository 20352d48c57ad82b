import { z } from "zod";
import { findGame, findGameNamed, gameIds, knownGameIds } from "../../games/registry.ts";
import { didYouMean } from "../../lib/suggestion.ts";
import { TimeControl } from "../../lib/time-control.ts";
import { MatchCapacity } from "../../protocol/match-capacity.ts";
import { JoinCode } from "../../protocol/names.ts";
import { MoveLimit, Timeouts } from "../../protocol/timeouts.ts";
import { DATA_FOLDER, LOOPBACK_HOST, PORT_RANGES } from "../defaults.ts";
import { Player } from "./players.ts";

/** The minimum length of an operator token. */
export const OPERATOR_TOKEN_LENGTH = 16;

const port = z.int().min(1).max(65_535);
const leagueId = z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, "use letters, digits, dot, dash and underscore");

const League = z
  .strictObject({
    league_id: leagueId.describe("the league's id in URLs and file names"),
    game: z.string().describe(`${gameIds.join(", ")}, or the .ts or .js file of another game, relative to this file`),
    format: z
      .literal("round-robin")
      .default("round-robin")
      .describe(
        "every player meets every other player once; with more than two roles, a rotation in which each player has every role equally often",
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
      const options = game.options.safeParse(league.options);
      for (const issue of options.error?.issues ?? []) {
        const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
        const message = unknown.length > 0 ? unknownOption(unknown[0], game.options) : issue.message;
        context.addIssue({ code: "custom", path: ["options", ...issue.path, ...unknown], message });
      }
    }
  });
export type LeagueConfig = z.infer<typeof League>;

function unknownGame(game: string): string {
  const namedGame = findGameNamed(game);
  const hint = namedGame ? `. Did you mean ${JSON.stringify(namedGame.id)}?` : didYouMean(game, knownGameIds());
  return `unknown game ${JSON.stringify(game)}${hint || `. Known games: ${knownGameIds().join(", ")}, or a .ts or .js file.`}`;
}

function unknownOption(name: string | undefined, options: z.ZodType): string {
  const { properties = {} } = z.toJSONSchema(options, { io: "input", unrepresentable: "any" });
  const names = Object.keys(properties);
  const known = names.length === 0 ? "This game has no options." : `Options of this game: ${names.join(", ")}.`;
  return `unknown option ${JSON.stringify(name)}${didYouMean(name, names) || `. ${known}`}`;
}

/** The config of a league run. The file is JSON with comments; the paths in it are relative to its folder. */
export const Config = z
  .strictObject({
    $schema: z.string().optional().describe("for editors: ./league.schema.json"),
    manager: z
      .strictObject({
        port: port.default(PORT_RANGES.manager[0]).describe("the port on which the league manager listens"),
        host: z
          .string()
          .default(LOOPBACK_HOST)
          .describe(
            "the address to listen on; 0.0.0.0 or :: for every address of this machine, so that other machines can connect",
          ),
        endpoint: z
          .url({ protocol: /^https?$/ })
          .optional()
          .describe(
            "the URL at which others reach the manager through a proxy, e.g. https://league.example/mcp; requests to that host are accepted",
          ),
        operator_token: z
          .string()
          .min(OPERATOR_TOKEN_LENGTH)
          .optional()
          .describe(
            "the token for start_league, schedule_match, remove_player, forget_player and reset_token; by default a random token in the file operator-token of the data folder",
          ),
        join_code: JoinCode.optional().describe("the code that players and referees must send to register"),
      })
      .prefault({})
      .describe("the league manager"),
    referees: z
      .strictObject({
        count: z.int().min(1).max(99).default(1).describe("the number of referees that are started"),
        firstPort: port
          .default(PORT_RANGES.referee[0])
          .describe("the port of the first referee; further referees have the next ports"),
        max_concurrent_matches: MatchCapacity.describe(
          "the maximum number of matches that each referee has at the same time",
        ),
      })
      .prefault({})
      .describe("the referees, which run the matches"),
    data: z.string().default(DATA_FOLDER).describe("the folder for runs, logs and tokens, relative to this file"),
    players: z.array(Player).max(1_000).default([]).describe("the players; each enters every league of its games"),
    playersFirstPort: port
      .default(PORT_RANGES.player[0])
      .describe("the port of the first player; further players have the next ports"),
    games: z
      .array(z.string().min(1))
      .max(100)
      .default([])
      .describe(
        "files of games that are not built in, relative to this file; a league may also name such a file as its game. The code of a file runs in the manager and the referees with all their rights",
      ),
    leagues: z.array(League).min(1).max(100).describe("the leagues of a run"),
    timeouts: Timeouts.describe("time limits in milliseconds"),
    limits: z
      .strictObject({
        loopback: z
          .boolean()
          .default(false)
          .describe("true: the rate limits also apply to callers on this machine without a token"),
      })
      .prefault({})
      .describe("rate limits"),
    allowed_hosts: z
      .array(z.string().toLowerCase())
      .default([])
      .describe(
        "host names besides those of this machine: accepted in the Host and Origin of requests and in the endpoints of agents",
      ),
  })
  .superRefine((config, context) => {
    unique(config.leagues, (league) => league.league_id, "leagues", "league_id", context);
    unique(config.players, (player) => player.name, "players", "name", context);
    unique(config.players, (player) => ("secret" in player ? player.secret : undefined), "players", "secret", context);
  });
export type Config = z.infer<typeof Config>;

/** Reports each item whose key occurs in an earlier item. Items without a key are ignored. */
function unique<T>(
  items: readonly T[],
  key: (item: T) => string | undefined,
  list: string,
  field: string,
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const value = key(item);
    if (value === undefined) continue;
    if (seen.has(value)) {
      const shown = field === "secret" ? "this secret" : `"${value}"`;
      context.addIssue({ code: "custom", path: [list, index, field], message: `${shown} occurs twice` });
    }
    seen.add(value);
  }
}
