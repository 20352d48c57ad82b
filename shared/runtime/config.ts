import { z } from "zod";
import { findGame, gameIds } from "../games/registry.ts";
import { DisplayName } from "../protocol/names.ts";
import { Timeouts } from "../protocol/timeouts.ts";

const port = z.int().min(1).max(65_535);
const leagueId = z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, "use letters, digits, dot, dash and underscore");

const Player = z.union(
  [
    z.strictObject({ name: DisplayName, bot: z.string().min(1) }),
    z.strictObject({
      name: DisplayName,
      uci: z.strictObject({ command: z.string().min(1), nodes: z.int().min(1).default(10_000) }),
    }),
    z.strictObject({ name: DisplayName, endpoint: z.url({ protocol: /^https?$/ }) }),
    z.strictObject({ name: DisplayName, self: z.literal(true) }),
  ],
  'a player is {"name", "bot"}, {"name", "uci": {"command"}}, {"name", "endpoint"} or {"name", "self": true}',
);
export type PlayerConfig = z.infer<typeof Player>;

const League = z
  .strictObject({
    league_id: leagueId,
    game: z.string(),
    format: z.literal("round-robin").default("round-robin"),
    options: z.record(z.string(), z.unknown()).default({}),
    /** Closes the league: whoever comes later gets L002. */
    max_players: z.int().min(2).max(1_000).optional(),
    /** Starts the league when so many are registered, whoever they are. */
    min_players: z.int().min(2).max(1_000).optional(),
  })
  .superRefine((league, context) => {
    const game = findGame(league.game);
    if (!game) {
      context.addIssue({ code: "custom", path: ["game"], message: `unknown game; known are ${gameIds.join(", ")}` });
    } else if (game.roles.length !== 2) {
      const message = `${league.game} is no league game: a match is between two players, and it needs ${game.roles.length}`;
      context.addIssue({ code: "custom", path: ["game"], message });
    } else {
      const options = game.options.safeParse(league.options);
      for (const issue of options.error?.issues ?? []) {
        const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
        const message = unknown.length > 0 ? "unknown option" : issue.message;
        context.addIssue({ code: "custom", path: ["options", ...issue.path, ...unknown], message });
      }
    }
  });
export type LeagueConfig = z.infer<typeof League>;

/** The config of a league run; the file is JSON with comments, paths in it are relative to it. */
export const Config = z
  .strictObject({
    $schema: z.string().optional(),
    manager: z
      .strictObject({
        port: port.default(8000),
        host: z.string().default("127.0.0.1"),
        /** For start_league, schedule_match and remove_player; random when absent. */
        operator_token: z.string().min(16).optional(),
      })
      .prefault({}),
    referees: z
      .strictObject({
        count: z.int().min(1).max(99).default(1),
        firstPort: port.default(8001),
        max_concurrent_matches: z.int().min(1).max(100_000).default(64),
      })
      .prefault({}),
    data: z.string().default("data"),
    players: z.array(Player).max(1_000).default([]),
    playersFirstPort: port.default(8101),
    leagues: z.array(League).min(1).max(100),
    timeouts: Timeouts,
    limits: z
      .strictObject({
        /** Whether callers on loopback without a token are held to the rate limits too. */
        loopback: z.boolean().default(false),
      })
      .prefault({}),
    /** Host names, besides loopback, that agents may be reached at and may call by. */
    allowed_hosts: z.array(z.string().toLowerCase()).default([]),
  })
  .superRefine((config, context) => {
    unique(config.leagues, (league) => league.league_id, "leagues", "league_id", context);
    unique(config.players, (player) => player.name, "players", "name", context);
  });
export type Config = z.infer<typeof Config>;

function unique<T>(
  items: readonly T[],
  key: (item: T) => string,
  list: string,
  field: string,
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (seen.has(key(item))) {
      context.addIssue({ code: "custom", path: [list, index, field], message: `"${key(item)}" is given twice` });
    }
    seen.add(key(item));
  }
}
