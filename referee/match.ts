import type { Game, Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import { verdictOf } from "#shared/session/verdict.ts";
import type { Asker, MoveQuestion, Seated } from "./ask.ts";
import type { SessionHost } from "./host.ts";

/** A match that was taken away from this driver; its session stays as it is. */
export class MatchWithdrawn extends Error {}

export interface MatchDriver {
  readonly host: SessionHost;
  readonly asker: Asker;
}

/** One match of a league on its way: the manager's order, its game and its two players. */
interface Match {
  readonly order: StartGame;
  readonly game: Game;
  readonly players: readonly Seated[];
  /** Those that want to be told of every round. */
  readonly listeners: readonly Seated[];
  readonly signal: AbortSignal;
  /** Rounds that the players have been told, or that were closed before this driver began. */
  closedRounds: number;
}

/**
 * Plays a match to its end by asking its players, and returns what the manager is told. `sessionId` resumes a session that
 * was begun before. Rejects with MatchWithdrawn once `signal` is aborted, and with any error that is our own fault.
 */
export async function playMatch(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<MatchResult> {
  const game = findGame(order.game);
  if (!game) throw new Error(`unknown game ${order.game}`);
  const players = seatedPlayers(order, signal);
  const listeners = players.filter((player) => player.wantsRoundResults);
  const match: Match = { order, game, players, listeners, signal, closedRounds: 0 };
  let session = sessionOf(driver, sessionId);
  match.closedRounds = game.rounds?.(session.state).length ?? 0;
  if (session.status === "active" && session.tick === 0) {
    const faults = await inviteAll(driver, match);
    if (faults.length > 0) session = await forfeit(driver, sessionId, faults);
    else tellStart(driver, match);
  }
  while (session.status === "active") session = await playTurn(driver, match, session);
  return matchResult(driver, order, session);
}

/** The seats of an order: each is an agent of its own, known by its match token. */
export const seatsOf = (order: StartGame) =>
  Object.entries(order.roles).map(([role, player]) => ({
    role,
    agentId: `${player.player_id}@${matchRef(order.league_id, order.match_id)}`,
    tokenHash: sha256Hex(player.match_token),
  }));

const seatedPlayers = (order: StartGame, signal: AbortSignal): readonly Seated[] =>
  Object.entries(order.roles).map(([role, player]) => ({
    role,
    playerId: player.player_id,
    endpoint: player.endpoint,
    matchToken: player.match_token,
    wantsLegalActions: player.legal_actions,
    wantsRoundResults: player.round_results,
    takesBatches: player.batch,
    signal,
  }));

function sessionOf({ host }: MatchDriver, sessionId: string): Session {
  const kept = host.read(sessionId);
  if (!kept) throw new Error(`session ${sessionId} is not in the log`);
  return kept.session;
}

async function inviteAll({ asker }: MatchDriver, match: Match): Promise<readonly Fault[]> {
  const answers = await Promise.all(
    match.players.map(async (player) => {
      const answer = await asker.invite(player, invitationFor(match, player), match.order.timeouts.join_ms);
      return answer.ok ? [] : [{ role: player.role, ...answer.error }];
    }),
  );
  stopIfWithdrawn(match);
  return answers.flat();
}

function invitationFor({ order }: Match, player: Seated): GameInvite {
  return {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    epoch: order.epoch,
    game: order.game,
    options: order.options,
    your_role: player.role,
    roles: playerIds(order),
    seed_commitment: sha256Hex(order.seed),
    bot_seed: hmacBase64Url(order.seed, player.role),
  };
}

const playerIds = (order: StartGame): Record<Role, string> =>
  Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));

function tellStart(driver: MatchDriver, match: Match): void {
  const { order, players } = match;
  const payload = {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    game_config: {
      game_type: order.game,
      ...(order.options as object),
      time_limit_seconds: order.timeouts.move_ms / 1000,
    },
    players: players.map(({ playerId, role }) => ({ player_id: playerId, role })),
  };
  for (const player of players) void driver.asker.tell(player, "GAME_START", payload, order.timeouts.game_over_ms);
}

/** Asks every role of the open turn at once; faults of one turn are judged together. */
async function playTurn(driver: MatchDriver, match: Match, session: Session): Promise<Session> {
  const { game } = match;
  const players = game.toAct(session.state).map((role) => playerOf(match, role));
  const answers = await Promise.all(
    players.map(async (player) => {
      const answer = await driver.asker.move(player, questionFor(driver, match, session, player));
      return answer.ok ? [] : [{ role: player.role, ...answer.error }];
    }),
  );
  stopIfWithdrawn(match);
  const faults = answers.flat();
  if (faults.length > 0) return forfeit(driver, session.id, faults);
  const next = sessionOf(driver, session.id);
  tellRounds(driver, match, next);
  return next;
}

function playerOf(match: Match, role: Role): Seated {
  const player = match.players.find((one) => one.role === role);
  if (!player) throw new Error(`nobody plays ${role}`);
  return player;
}

function questionFor(driver: MatchDriver, match: Match, session: Session, player: Seated): MoveQuestion {
  const { order, game } = match;
  const { role } = player;
  const deadline = new Date(Date.now() + order.timeouts.move_ms).toISOString();
  const known = {
    league_id: order.league_id,
    match_id: order.match_id,
    epoch: order.epoch,
    tick: session.turnTick,
    game_round: (game.rounds ? match.closedRounds : session.turnTick) + 1,
    your_role: role,
    game_state: game.viewState(session.state, role),
    ...(player.wantsLegalActions && { legal_actions: game.legalActions(session.state, role) }),
  };
  return {
    matchId: order.match_id,
    tick: session.turnTick,
    limitMs: order.timeouts.move_ms,
    invitation: () => invitationFor(match, player),
    payload: (error, leftMs, lastRoundTripMs) => ({
      ...known,
      time_limit_seconds: Math.max(0, leftMs) / 1000,
      deadline,
      last_round_trip_ms: lastRoundTripMs,
      ...(error && { error }),
    }),
    async accept(move) {
      stopIfWithdrawn(match);
      const acted = await driver.host.submit(session.id, { role, action: move, expectedTick: session.turnTick });
      if (acted.ok) return ok(null);
      if (acted.error.code === "ILLEGAL_ACTION") return err(acted.error.message);
      throw new Error(`the session refused a move that was asked for: ${acted.error.message}`);
    },
  };
}

async function forfeit(driver: MatchDriver, sessionId: string, faults: readonly Fault[]): Promise<Session> {
  const ended = await driver.host.forfeit(sessionId, faults);
  if (!ended.ok) throw new Error(`the session refused a forfeit: ${ended.error.message}`);
  return ended.value;
}

/** Tells both players the rounds that this turn has closed. */
function tellRounds(driver: MatchDriver, match: Match, session: Session): void {
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
 * Tells both players how their match ended, and its seed. Only a result that the manager has recorded is told: a match that is played again
 * has the same seed, and nobody may know it then.
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
  const verdict = verdictOf(session);
  const ids = playerIds(order);
  const rows = host.read(session.id)?.rows ?? [];
  return {
    league_id: order.league_id,
    round_id: order.round_id,
    match_id: order.match_id,
    epoch: order.epoch,
    winner: verdict.winner === null ? null : (ids[verdict.winner] ?? null),
    final_scores: byPlayer(ids, verdict.scores),
    match_points: byPlayer(ids, verdict.points),
    termination: verdict.termination === "expired" ? "aborted" : verdict.termination,
    reason: verdict.reason,
    faults: session.faults.map((fault) => ({ player_id: ids[fault.role] ?? "", ...fault })),
    log_head: rows.at(-1)?.hash ?? "",
    log: rows.map((row) => row.body),
  };
}

const byPlayer = <T>(ids: Readonly<Record<Role, string>>, values: Readonly<Record<Role, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([role, value]) => [ids[role] ?? role, value]));

function stopIfWithdrawn(match: Match): void {
  if (match.signal.aborted) throw new MatchWithdrawn(matchRef(match.order.league_id, match.order.match_id));
}
