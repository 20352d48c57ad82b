import type { Role } from "#shared/games/game.ts";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { matchAgentId } from "#shared/lib/ids.ts";
import { type Contact, parseSpeech, type RoundFacts } from "#shared/protocol/dialects/dialect.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { offersWebSocket } from "#shared/protocol/message-fields.ts";
import type { GameInvite, GameResult, MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import type { Session } from "#shared/session/session.ts";
import { seatView } from "../views/session-views.ts";
import type { SeatedPlayer } from "./ask.ts";
import { type Match, type MatchDriver, sessionOf } from "./driven-match.ts";

/** The seats of an order, as the session host stores them. Each is a separate agent, identified by its match token. */
export const seatsOf = (order: StartGame) =>
  Object.entries(order.roles).map(([role, player]) => ({
    role,
    agentId: matchAgentId(player.player_id, order.league_id, order.match_id),
    tokenHash: sha256Hex(player.match_token),
  }));

/** The players of the order of a session that are asked over the wire. A seat without an endpoint is played through another interface. */
export function seatedPlayers(
  driver: Pick<MatchDriver, "host">,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): readonly SeatedPlayer[] {
  const closedRounds = () => roundResults(order, sessionOf(driver, sessionId));
  return Object.entries(order.roles)
    .filter(([, { endpoint }]) => endpoint !== "")
    .map(([role, player]) => ({ role, player, moveMs: player.move_ms ?? order.timeouts.move_ms }))
    .map(({ role, player, moveMs }) => ({
      role,
      playerId: player.player_id,
      endpoint: player.endpoint,
      matchToken: player.match_token,
      wantsLegalActions: player.legal_actions,
      wantsRoundResults: player.round_results,
      contact: contactOf(order, role, firstLimitMs(order, moveMs), closedRounds),
      wantsDeltaViews: player.history === "delta",
      offersWebSocket: offersWebSocket(player.transports),
      moveMs,
      signal,
    }));
}

/** The time limit of the first move: that for a move or, if it is earlier, the clock. */
const firstLimitMs = ({ clock }: StartGame, moveMs: number): number => Math.min(moveMs, clock?.initial_ms ?? moveMs);

/** How to address a player of another dialect; null for a native one. */
function contactOf(
  order: StartGame,
  role: Role,
  moveMs: number,
  closedRounds: () => readonly RoundFacts[],
): Contact | null {
  const player = order.roles[role];
  const speech = player && parseSpeech(player.dialect);
  if (!speech) return null;
  const { player_id, dialect_token = "", standings } = player;
  const seat = { game: order.game, roundId: order.round_id, roles: playerIds(order), role, closedRounds };
  return { ...speech, playerId: player_id, token: dialect_token, moveMs, standings, seat };
}

/** The payload of a player's GAME_INVITE. The referee waits `limitMs` for the answer. */
export function invitationFor({ order, options }: Match, player: SeatedPlayer, limitMs: number): GameInvite {
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
    ...(order.run_id != null && { run_id: order.run_id }),
    ...(order.clock && { clock: order.clock }),
    ...(order.restart_reason !== undefined && { restart_reason: order.restart_reason }),
    bot_seed: hmacBase64Url(order.seed, player.role),
    time_limit_seconds: limitMs / 1000,
  };
}

/**
 * The fields of a player's MOVE_REQUEST that stay the same when the request is repeated in one turn, unless the player is invited again. The request also contains `deadline`,
 * `time_limit_seconds`, `last_round_trip_ms`, the `clock` of a match with clocks and, in a repetition, `error`.
 */
export function turnFor(
  { order, game, closedRounds, knownHistory }: Match,
  session: Session,
  { role, wantsLegalActions, wantsDeltaViews = false }: SeatedPlayer,
) {
  const { turnTick } = session;
  const view = seatView(session, role);
  return {
    league_id: order.league_id,
    match_id: order.match_id,
    epoch: order.epoch,
    tick: turnTick,
    game_round: (game.rounds ? closedRounds : turnTick) + 1,
    your_role: role,
    ...(wantsDeltaViews ? knownHistory.shownView(game, role, view.state) : { game_state: view.state }),
    ...(wantsLegalActions && { legal_actions: view.legalActions }),
  };
}

/** The player ids of an order, by role. */
const playerIds = (order: StartGame): Record<Role, string> =>
  Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));

/** Notifies the players that all have accepted and the match begins. Does not wait for the delivery. */
export function notifyStart({ asker }: MatchDriver, match: Match): void {
  const { order, options, players } = match;
  const payloadFor = ({ moveMs }: SeatedPlayer) => ({
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    game_config: {
      game_type: order.game,
      ...(options as object),
      time_limit_seconds: firstLimitMs(order, moveMs) / 1000,
    },
    players: players.map(({ playerId, role }) => ({ player_id: playerId, role })),
  });
  for (const player of players)
    void asker.notify(player, "GAME_START", payloadFor(player), order.timeouts.game_over_ms);
}

/** Notifies a player that it has lost the match because it did not answer in time. Does not wait for the delivery. */
export function notifyTimeout({ asker }: MatchDriver, { order, players }: Match, { role, cause, detail }: Fault): void {
  const { league_id, match_id, timeouts } = order;
  const payload = { league_id, match_id, ...protocolError("G002", detail, { match_id, role, cause }) };
  const player = players.find((seated) => seated.role === role);
  if (player) void asker.notify(player, "GAME_ERROR", payload, timeouts.game_over_ms);
}

/** Notifies the listeners of the rounds that the last turn has closed. Does not wait for the delivery. */
export function notifyRounds({ asker }: MatchDriver, match: Match, session: Session): void {
  const { order, listeners } = match;
  const closed = roundResults(order, session, match.closedRounds);
  match.closedRounds += closed.length;
  for (const payload of closed) {
    for (const player of listeners) void asker.notify(player, "ROUND_RESULT", payload, order.timeouts.game_over_ms);
  }
}

/** The payloads of ROUND_RESULT for the closed rounds of a session, without the first `from`. */
function roundResults(
  order: StartGame,
  { game, state }: Pick<Session, "game" | "state">,
  from = 0,
): readonly RoundFacts[] {
  const ids = playerIds(order);
  return (game.rounds?.(state, from) ?? []).map((round) => ({
    league_id: order.league_id,
    match_id: order.match_id,
    game_round: round.round,
    moves: byPlayer(ids, round.moves),
    round_winner: round.winner === null ? null : (ids[round.winner] ?? null),
    scores: byPlayer(ids, round.scores),
    ...round.facts,
  }));
}

/** Resolves when the players have answered the earlier notifications about their match, or after a short limit. */
export async function notificationsAnswered(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(seatedPlayers(driver, order, sessionId, signal).map((player) => driver.asker.inOrder(player)));
}

/**
 * Sends GAME_RESULT with the seed to the players of a match. Resolves when each player has acknowledged it, its delivery has failed or
 * `game_over_ms` have passed. Must not be called if the match may be played again with the same seed.
 */
export async function notifyResult(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  result: MatchResult,
  signal: AbortSignal,
): Promise<void> {
  const { asker } = driver;
  const { league_id, match_id, epoch, winner, final_scores, match_points, termination, reason, log_head } = result;
  const payload: GameResult = {
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
  const players = seatedPlayers(driver, order, sessionId, signal);
  await Promise.all(players.map((player) => asker.notify(player, "GAME_RESULT", payload, order.timeouts.game_over_ms)));
}

/** The payload of MATCH_RESULT for a completed session: the outcome by player, the log and the hash of its last entry. */
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
