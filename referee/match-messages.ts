import type { Game, Role } from "#shared/games/game.ts";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { flat } from "#shared/lib/text.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { GameInvite, GameResult, MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import type { Session } from "#shared/session/session.ts";
import type { Asker, Seated } from "./ask.ts";
import type { SessionHost } from "./sessions/host.ts";

export interface MatchDriver {
  readonly host: SessionHost;
  readonly asker: Asker;
}

/** One match of a league on its way: the manager's order, its game and its two players. */
export interface Match {
  readonly order: StartGame;
  readonly game: Game;
  /** The options of the session, which include the defaults of those that the order leaves out. */
  readonly options: unknown;
  readonly players: readonly Seated[];
  /** Those that want to be told of every round. */
  readonly listeners: readonly Seated[];
  readonly signal: AbortSignal;
  /** Rounds that the players have been told, or that were closed before this driver began. */
  closedRounds: number;
}

/** The seats of an order: each is an agent of its own, known by its match token. */
export const seatsOf = (order: StartGame) =>
  Object.entries(order.roles).map(([role, player]) => ({
    role,
    agentId: flat(player.player_id, "@", matchRef(order.league_id, order.match_id)),
    tokenHash: sha256Hex(player.match_token),
  }));

/** Those who are asked: a seat that is played through another door has no endpoint. */
export const seatedPlayers = (order: StartGame, signal: AbortSignal): readonly Seated[] =>
  Object.entries(order.roles)
    .filter(([, { endpoint }]) => endpoint !== "")
    .map(([role, player]) => ({
      role,
      playerId: player.player_id,
      endpoint: player.endpoint,
      matchToken: player.match_token,
      wantsLegalActions: player.legal_actions,
      wantsRoundResults: player.round_results,
      takesBatches: player.batch,
      signal,
    }));

export function invitationFor({ order, options }: Match, player: Seated): GameInvite {
  return {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    epoch: order.epoch,
    game: order.game,
    options,
    your_role: player.role,
    roles: playerIds(order),
    seed_commitment: sha256Hex(order.seed),
    bot_seed: hmacBase64Url(order.seed, player.role),
  };
}

export const playerIds = (order: StartGame): Record<Role, string> =>
  Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));

export function tellStart(driver: MatchDriver, match: Match): void {
  const { order, options, players } = match;
  const payload = {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    game_config: {
      game_type: order.game,
      ...(options as object),
      time_limit_seconds: order.timeouts.move_ms / 1000,
    },
    players: players.map(({ playerId, role }) => ({ player_id: playerId, role })),
  };
  for (const player of players) void driver.asker.tell(player, "GAME_START", payload, order.timeouts.game_over_ms);
}

/** Notifies a player that it has lost the match because it did not answer in time. */
export function tellTimeout({ asker }: MatchDriver, { order, players }: Match, { role, detail }: Fault): void {
  const { league_id, match_id, timeouts } = order;
  const payload = { league_id, match_id, ...protocolError("G002", detail, { match_id, role }) };
  const player = players.find((one) => one.role === role);
  if (player) void asker.tell(player, "GAME_ERROR", payload, timeouts.game_over_ms);
}

/** Tells both players the rounds that this turn has closed. */
export function tellRounds(driver: MatchDriver, match: Match, session: Session): void {
  const { order, game, listeners } = match;
  const closed = game.rounds?.(session.state, match.closedRounds) ?? [];
  match.closedRounds += closed.length;
  if (listeners.length === 0) return;
  const ids = playerIds(order);
  for (const round of closed) {
    const payload = {
      league_id: order.league_id,
      match_id: order.match_id,
      game_round: round.round,
      moves: byPlayer(ids, round.moves),
      round_winner: round.winner === null ? null : (ids[round.winner] ?? null),
      scores: byPlayer(ids, round.scores),
      ...round.facts,
    };
    for (const player of listeners)
      void driver.asker.tell(player, "ROUND_RESULT", payload, order.timeouts.game_over_ms);
  }
}

/**
 * Sends both players the end of their match and its seed. Must be called only with a result that the manager has recorded: until then the
 * match may be played again, and with the same seed if a manager of an older version ordered it.
 */
export function tellResult({ asker }: MatchDriver, order: StartGame, result: MatchResult, signal: AbortSignal): void {
  const { league_id, match_id, epoch, winner, final_scores, match_points, termination, reason, log_head } = result;
  const told: GameResult = {
    league_id,
    match_id,
    epoch,
    winner,
    final_scores,
    match_points,
    termination,
    reason,
    seed: order.seed,
    log_head,
  };
  for (const player of seatedPlayers(order, signal)) {
    void asker.tell(player, "GAME_RESULT", told, order.timeouts.game_over_ms);
  }
}

/** What a finished session means in the league's words: players instead of roles, the log with its head. */
export function matchResult({ host }: MatchDriver, order: StartGame, session: Session): MatchResult {
  const rows = host.read(session.id)?.rows ?? [];
  return {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    epoch: order.epoch,
    ...outcomeOf(session, rows.at(-1)?.hash ?? "", playerIds(order)),
    log: rows.map((row) => row.body),
  };
}

const byPlayer = <T>(ids: Readonly<Record<Role, string>>, values: Readonly<Record<Role, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([role, value]) => [ids[role] ?? role, value]));
