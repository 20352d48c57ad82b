import { z } from "zod";
import { findFormat } from "#shared/formats/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { didYouMean } from "#shared/lib/text.ts";
import { isWebOrigin } from "#shared/protocol/addresses.ts";
import { JoinCode, MatchCapacity, Timeouts } from "#shared/protocol/message-fields.ts";
import { isAddressOrNetwork } from "#shared/rpc/http/request.ts";
import { DATA_FOLDER, LOOPBACK_HOST, PORT_RANGES } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { League } from "./leagues.ts";
import { isStartedElsewhere, Player } from "./players.ts";

/** The minimum length of an operator token. */
export const OPERATOR_TOKEN_LENGTH = 16;

const port = z.int().min(1).max(65_535);
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
            "the token of the operator, for tools such as start_league, pause_league and reset_token; by default a random token in the file operator-token of the data folder",
          ),
        trusted_proxies: z
          .array(z.string().refine(isAddressOrNetwork, "must be an IP address or a network such as 10.0.0.0/8"))
          .max(100)
          .default([])
          .describe(
            "the addresses of proxies on other machines, as IP addresses or networks: the manager takes the address of a caller from their X-Forwarded-For. Proxies on the manager's machine need no entry",
          ),
        join_code: JoinCode.optional().describe("the code that players and referees must send to register"),
      })
      .prefault({})
      .describe("the league manager"),
    referees: z
      .strictObject({
        count: z
          .int()
          .min(0)
          .max(99)
          .default(1)
          .describe("the number of referees that are started; 0 for a manager whose referees are started elsewhere"),
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
    players_per_process: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe(
        "how many players with built-in bots share a process: more need less memory and processor time. If the process ends, all its players are absent until it is started again, and a bot that computes for long delays the others. Other players have a process each",
      ),
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
    allowed_origins: z
      .array(z.string().refine(isWebOrigin, "must be an origin without a path, e.g. https://app.example"))
      .max(100)
      .default([])
      .describe(
        "origins of other sites, e.g. https://app.example, whose pages may call /mcp of the agents in a browser, except the tools of the operator",
      ),
  })
  .superRefine((config, context) => {
    const names = new Set(config.players.map(({ name }) => name));
    for (const [index, { format, format_options }] of config.leagues.entries()) {
      const option = findFormat(format)?.playerOption ?? "";
      const name = format_options[option];
      if (typeof name !== "string" || names.size === 0 || names.has(name)) continue;
      const message = `no player ${JSON.stringify(name)} in players${didYouMean(name, [...names])}`;
      context.addIssue({ code: "custom", path: ["leagues", index, "format_options", option], message });
    }
    for (const [index, { teams = [] }] of config.leagues.entries()) {
      for (const [team, members] of teams.entries()) {
        for (const [member, name] of members.entries()) {
          if (names.has(name)) continue;
          const message = `no player ${JSON.stringify(name)} in players${didYouMean(name, [...names])}`;
          context.addIssue({ code: "custom", path: ["leagues", index, "teams", team, member], message });
        }
      }
    }
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

/** A seed of this form has at least 128 bits, so a program cannot try all of them. Its randomness cannot be checked. */
const LONG_SEED = /^[\da-f]{32,}$/i;

/** Returns a random seed of 256 bits, in the form that a run needs which programs may enter that no command starts. */
export const newSeed = (ids: Pick<Ids, "token">): string => sha256Hex(ids.token());

/**
 * Whether programs may enter the leagues of a config that no command starts: every program that registers under `count`, and under `roster`
 * those at listed endpoints, those that register themselves under a listed name, and those that use the page of a person.
 */
export const admitsOthers = ({ players }: Pick<Config, "players">, startWhen: "roster" | "count"): boolean =>
  startWhen === "count" || players.some(isStartedElsewhere);

/**
 * Checks the seed that a person has chosen for a new run; null for a random one. Commitments, GAME_INVITE and GAME_RESULT are functions of the seed, so
 * a program finds a short one by trying all of them, and then computes all cards, keys and draws of the run. Throws StartError with a seed to use
 * instead if `isOpen` and the seed is too short.
 */
export function assertSeed(seed: string | null, isOpen: boolean, ids: Pick<Ids, "token">): void {
  if (seed === null || !isOpen || LONG_SEED.test(seed)) return;
  const fault = "programs that this command does not start may enter and could compute the hidden information from it";
  const remedy = `Use at least 32 hexadecimal digits, e.g. --seed ${newSeed(ids)}, or omit --seed`;
  throw new StartError(`--seed ${seed}: ${fault}. ${remedy}`, EXIT.config);
}
