import { z } from "zod";
import { findGame, findGameNamed, gameIds } from "../../games/registry.ts";
import { isToken } from "../../lib/ids.ts";
import { faultLine } from "../../lib/schema-messages.ts";
import { didYouMean } from "../../lib/suggestion.ts";
import { MatchCapacity } from "../../protocol/match-capacity.ts";
import { DisplayName, JoinCode } from "../../protocol/names.ts";
import { Timeouts } from "../../protocol/timeouts.ts";
import { DATA_FOLDER, LOOPBACK_HOST, PORT_RANGES, UCI_NODES } from "../defaults.ts";

/** The minimum length of an operator token. */
export const OPERATOR_TOKEN_LENGTH = 16;

const port = z.int().min(1).max(65_535);
const leagueId = z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, "use letters, digits, dot, dash and underscore");

const BOT = "random, another built-in bot, or a .ts or .js file, relative to this file";
const name = DisplayName.describe("the name in the standings");

/** The forms of a player. Each form has a field that the other forms do not have. */
const PLAYER_FORMS = {
  bot: z.strictObject({ name, bot: z.string().min(1).describe(BOT) }),
  uci: z.strictObject({
    name,
    uci: z
      .strictObject({
        command: z.string().min(1).describe("the command that starts the engine, e.g. stockfish"),
        nodes: z.int().min(1).default(UCI_NODES).describe("positions that the engine searches for each move"),
      })
      .describe("a chess engine"),
  }),
  command: z.strictObject({
    name,
    command: z
      .array(z.string().min(1))
      .min(1)
      .describe('a program that reads and writes lines of JSON, e.g. ["python3", "bot.py"]'),
    protocol: z.literal("lines").describe("how the program is asked for its actions: one line of JSON for each turn"),
    folder: z.string().default(".").describe("the folder in which the program runs, relative to this file"),
  }),
  endpoint: z.strictObject({
    name,
    endpoint: z
      .url({ protocol: /^https?$/ })
      .describe(
        "the endpoint of a player that is started separately and does not register itself, e.g. http://127.0.0.1:9000/mcp",
      ),
    secret: z
      .string()
      .refine(isToken, "a secret has 43 characters: use the one that the player prints or stores in its --secret-file")
      .optional()
      .describe(
        "signs the messages to this player, which has the same secret; required for players of this project on other machines",
      ),
  }),
  self: z.strictObject({
    name,
    self: z.literal(true).describe("the league waits until a player with this name registers itself"),
  }),
};
const { bot, uci, command, endpoint, self } = PLAYER_FORMS;
const PLAYER_FORMS_HELP =
  'a player is {"name", "bot"}, {"name", "uci": {"command"}}, {"name", "command", "protocol": "lines"}, {"name", "endpoint"} or {"name", "self": true}';
const Player = z.union([bot, uci, command, endpoint, self], {
  error: ({ input, errors }) => playerFault(input, errors),
});

/**
 * Returns the faults of the form whose field is given. If there is no such form or there are several, returns the
 * unknown fields and the help about the forms.
 */
function playerFault(player: unknown, errors: unknown): string {
  const given = typeof player === "object" && player !== null ? Object.keys(player) : [];
  const faults = errors as readonly (readonly z.core.$ZodIssue[])[];
  const [formFaults, otherFaults] = Object.keys(PLAYER_FORMS).flatMap((form, index) =>
    given.includes(form) ? [faults[index] ?? []] : [],
  );
  if (formFaults && !otherFaults) return formFaults.map(faultLine).join("; ");
  const known = [...new Set(Object.values(PLAYER_FORMS).flatMap(({ shape }) => Object.keys(shape)))];
  const unknown = given.filter((field) => !known.includes(field));
  const hints = unknown.map((field) => `unknown field ${JSON.stringify(field)}${didYouMean(field, known)}`);
  return [...hints, PLAYER_FORMS_HELP].join("; ");
}

export type PlayerConfig = z.infer<typeof Player>;

const League = z
  .strictObject({
    league_id: leagueId.describe("the league's id in URLs and file names"),
    game: z.string().describe(`one of ${gameIds.join(", ")}`),
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
  const hint = namedGame ? `. Did you mean ${JSON.stringify(namedGame.id)}?` : didYouMean(game, gameIds);
  return `unknown game ${JSON.stringify(game)}${hint || `. Known games: ${gameIds.join(", ")}.`}`;
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
            "the token for start_league, schedule_match, remove_player and reset_token; by default a random token in the file operator-token of the data folder",
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
