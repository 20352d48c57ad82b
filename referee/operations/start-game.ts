import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import * as messages from "#shared/protocol/messages.ts";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import type { Referee } from "../referee.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";

const { join_ms, move_ms, game_over_ms } = Timeouts.parse({});
const id = z.string().min(1).max(200);
const endpoint = z.string().max(2000).optional();
const token = z.string().max(1000).optional();
const ENDPOINT = "MCP endpoint of the player; default: its endpoint in a match that this referee plays now";
const TOKEN = "match token of the player; drawn by default";

/** The arguments of start_game for a caller that knows only the match and its players. The others have defaults, are looked up or drawn. */
export const StartGameByPlayers = z.object({
  player1_id: id.describe("player of the game's first role"),
  player2_id: id.describe("player of the game's second role"),
  match_id: id,
  player1_endpoint: endpoint.describe(ENDPOINT),
  player2_endpoint: endpoint.describe(ENDPOINT),
  player1_token: token.describe(TOKEN),
  player2_token: token.describe(TOKEN),
  league_id: id.optional().describe("default: the league of the match if it is played here now, else friendly"),
  round_id: z.int().default(1),
  epoch: z.int().min(1).default(1),
  game: id.default("even_odd.v1"),
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("options of the game; game://rules/{game} lists them"),
  seed: z.string().max(1000).optional().describe("seed of the match; drawn by default"),
  timeouts: messages.StartGame.shape.timeouts.default({ join_ms, move_ms, game_over_ms }),
  auth_token: z.string().max(1000).optional().describe("signature of the league manager for this match"),
});
type StartGameByPlayers = z.infer<typeof StartGameByPlayers>;

/** The input of start_game: the complete order that the league manager sends, or the match and its two players. */
export const StartGame = z.union(
  [messages.StartGame, StartGameByPlayers],
  "give player1_id, player2_id and match_id, or the complete order with roles as the league manager sends it",
);
export type StartGame = z.infer<typeof StartGame>;

const isComplete = (asked: StartGame): asked is messages.StartGame => "roles" in asked;

/** The league and match of a start_game call, as `league_id/match_id`: the subject of the manager's signature. */
export function matchOf(asked: StartGame, running: ReturnType<Referee["running"]>): string {
  if (asked.league_id !== undefined) return matchRef(asked.league_id, asked.match_id);
  const known = running.find(({ order }) => order.match_id === asked.match_id);
  return known?.ref ?? matchRef("friendly", asked.match_id);
}

/**
 * The complete order. A match that is being played keeps its order, and endpoints are looked up in the matches being played. `secret` derives
 * the seed and tokens that the caller leaves out, so a repeated call gives the same order, also after the match is over.
 */
export function orderOf(
  asked: StartGame,
  running: ReturnType<Referee["running"]>,
  secret: string,
): Result<messages.StartGame, Rejection> {
  if (isComplete(asked)) return ok(asked);
  const ref = matchOf(asked, running);
  const known = running.find((one) => one.ref === ref)?.order;
  if (known && isSamePlayers(asked, known)) return ok(known);
  const game = findGame(asked.game);
  const [first = "player_1", second = "player_2"] = game?.roles ?? [];
  const { player1_id, player2_id, player1_endpoint, player2_endpoint, player1_token, player2_token, epoch } = asked;
  const drawn = (what: string): string =>
    hmacBase64Url(secret, JSON.stringify([what, ref, epoch, player1_id, player2_id]));
  const one = seatOf(player1_id, player1_endpoint, player1_token || drawn("player1_token"), running);
  const two = seatOf(player2_id, player2_endpoint, player2_token || drawn("player2_token"), running);
  const missing = [
    ...(one ? [] : [[player1_id, "player1_endpoint"]]),
    ...(two ? [] : [[player2_id, "player2_endpoint"]]),
  ];
  if (!one || !two) {
    const why = missing.map(
      ([player, argument]) => `${argument}: ${player} plays no match here now, so its endpoint is unknown`,
    );
    const what = `Give ${missing.map(([, argument]) => argument).join(" and ")}, e.g. http://127.0.0.1:8101/mcp`;
    return rejected("UNKNOWN_PLAYER", `${why.join("; ")}. ${what}`, { match: ref });
  }
  const { match_id, round_id, options, timeouts, seed = drawn("seed") } = asked;
  const league_id = ref.slice(0, ref.length - match_id.length - 1);
  const roles = { [first]: one, [second]: two };
  return ok({ league_id, match_id, round_id, epoch, game: asked.game, options, timeouts, seed, roles });
}

const isSamePlayers = ({ player1_id, player2_id, epoch }: StartGameByPlayers, order: messages.StartGame): boolean =>
  order.epoch === epoch &&
  Object.values(order.roles)
    .map((player) => player.player_id)
    .join("\n") === `${player1_id}\n${player2_id}`;

type Seat = messages.StartGame["roles"][string];

function seatOf(
  player_id: string,
  endpoint: string | undefined,
  match_token: string,
  running: ReturnType<Referee["running"]>,
): Seat | null {
  if (endpoint !== undefined) {
    const usual = { dialect: "native", legal_actions: true, round_results: true, batch: false };
    return { player_id, endpoint, match_token, ...usual };
  }
  const known = running.flatMap(({ order }) => Object.values(order.roles)).find((one) => one.player_id === player_id);
  return known ? { ...known, match_token } : null;
}
