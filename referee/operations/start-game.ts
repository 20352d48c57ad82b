import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import { id, Timeouts } from "#shared/protocol/message-fields.ts";
import * as messages from "#shared/protocol/messages.ts";
import type { Referee } from "../referee.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";

const { join_ms, move_ms, game_over_ms } = Timeouts.parse({});
const endpoint = z.string().max(2000).optional();
const token = z.string().max(1000).optional();
const ENDPOINT = "MCP endpoint of the player; default: its endpoint in a match that this referee plays now";
const TOKEN = "match token of the player; created by default";

/** The arguments of start_game for a caller that names only the match and its players. The other arguments have defaults or are derived. */
export const StartGameByPlayers = z.object({
  player1_id: id.describe("player in the first role of the game"),
  player2_id: id.describe("player in the second role of the game"),
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
  seed: z.string().max(1000).optional().describe("seed of the match; created by default"),
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

const isComplete = (input: StartGame): input is messages.StartGame => "roles" in input;

/** The league and match of a start_game call, as `league_id/match_id`: the subject of the manager's signature. */
export function matchOf(input: StartGame, running: ReturnType<Referee["running"]>): string {
  if (input.league_id !== undefined) return matchRef(input.league_id, input.match_id);
  const known = running.find(({ order }) => order.match_id === input.match_id);
  return known?.ref ?? matchRef("friendly", input.match_id);
}

/**
 * Returns the complete order. A match under way keeps its order, and missing endpoints are taken from the matches under way. Missing seeds and
 * tokens are derived from `secret`, so that a repeated call gives the same order even after the match. Returns UNKNOWN_PLAYER if an
 * endpoint is missing and unknown, with the names of the arguments.
 */
export function orderOf(
  input: StartGame,
  running: ReturnType<Referee["running"]>,
  secret: string,
): Result<messages.StartGame, Rejection> {
  if (isComplete(input)) return ok(input);
  const ref = matchOf(input, running);
  const known = running.find((match) => match.ref === ref)?.order;
  if (known && isSamePlayers(input, known)) return ok(known);
  const game = findGame(input.game);
  const [firstRole = "player_1", secondRole = "player_2"] = game?.roles ?? [];
  const { player1_id, player2_id, player1_endpoint, player2_endpoint, player1_token, player2_token, epoch } = input;
  const derived = (argument: string): string =>
    hmacBase64Url(secret, JSON.stringify([argument, ref, epoch, player1_id, player2_id]));
  const first = seatOf(player1_id, player1_endpoint, player1_token || derived("player1_token"), running);
  const second = seatOf(player2_id, player2_endpoint, player2_token || derived("player2_token"), running);
  const missing = [
    ...(first ? [] : [[player1_id, "player1_endpoint"]]),
    ...(second ? [] : [[player2_id, "player2_endpoint"]]),
  ];
  if (!first || !second) {
    const faults = missing.map(
      ([player, argument]) => `${argument}: ${player} has no match under way here, so its endpoint is unknown`,
    );
    const remedy = `Give ${missing.map(([, argument]) => argument).join(" and ")}, e.g. http://127.0.0.1:8101/mcp`;
    return rejected("UNKNOWN_PLAYER", `${faults.join("; ")}. ${remedy}`, { match: ref });
  }
  const { match_id, round_id, options, timeouts, seed = derived("seed") } = input;
  const league_id = ref.slice(0, ref.length - match_id.length - 1);
  const roles = { [firstRole]: first, [secondRole]: second };
  return ok({ league_id, match_id, round_id, epoch, game: input.game, options, timeouts, seed, roles });
}

const isSamePlayers = ({ player1_id, player2_id, epoch }: StartGameByPlayers, order: messages.StartGame): boolean =>
  order.epoch === epoch &&
  Object.values(order.roles)
    .map((player) => player.player_id)
    .join("\n") === `${player1_id}\n${player2_id}`;

type Seat = messages.StartGame["roles"][string];

/** The seat of a player with the given endpoint or that of a match under way; null if there is neither. */
function seatOf(
  player_id: string,
  endpoint: string | undefined,
  match_token: string,
  running: ReturnType<Referee["running"]>,
): Seat | null {
  if (endpoint !== undefined) {
    const capabilities = { dialect: "native", legal_actions: true, round_results: true };
    return { player_id, endpoint, match_token, ...capabilities };
  }
  const known = running
    .flatMap(({ order }) => Object.values(order.roles))
    .find((player) => player.player_id === player_id);
  return known ? { ...known, match_token } : null;
}
