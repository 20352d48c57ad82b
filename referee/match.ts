import type { Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import type { MoveQuestion, Seated } from "./ask.ts";
import {
  invitationFor,
  type Match,
  type MatchDriver,
  matchResult,
  seatedPlayers,
  tellResult,
  tellRounds,
  tellStart,
  tellTimeout,
} from "./match-messages.ts";

/** A match that was taken away from this driver; its session stays as it is. */
export class MatchWithdrawn extends Error {}

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
  let session = sessionOf(driver, sessionId);
  const { options } = session;
  const match: Match = { order, game, options, players, listeners, signal, closedRounds: 0 };
  match.closedRounds = game.rounds?.(session.state).length ?? 0;
  const left = faultsOfLeft(order);
  if (session.status === "active" && left.length > 0) session = await forfeit(driver, sessionId, left);
  if (session.status === "active" && session.tick === 0) {
    const accepted = driver.host.lobby.inviting(sessionId);
    const faults = await inviteAll(driver, match).finally(accepted);
    if (faults.length > 0) session = await forfeit(driver, sessionId, faults);
    else tellStart(driver, match);
  }
  while (session.status === "active") session = await playTurn(driver, match, session);
  return matchResult(driver, order, session);
}

/**
 * Plays the seats of a session that have an endpoint, as they come to act, while others act through other doors; tells them the
 * result. Rejects with MatchWithdrawn once `signal` is aborted.
 */
export async function playSeats(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const game = findGame(order.game);
  if (!game) throw new Error(`unknown game ${order.game}`);
  const players = seatedPlayers(order, signal);
  const { options, status } = sessionOf(driver, sessionId);
  const match: Match = { order, game, options, players, listeners: [], signal, closedRounds: 0 };
  const faults = status === "active" ? await inviteAll(driver, match) : [];
  if (faults.length > 0) await forfeit(driver, sessionId, faults);
  // No session is held here from turn to turn: a game that nobody goes on with leaves memory, until its next commit.
  for (let due = seatsDue(driver, match, sessionId); due !== null; due = seatsDue(driver, match, sessionId)) {
    if (due.length > 0) await askSeats(driver, match, sessionId, due);
    else await driver.host.nextCommit(sessionId, signal).catch(() => stopIfWithdrawn(match));
  }
  tellResult(driver, order, matchResult(driver, order, sessionOf(driver, sessionId)), signal);
}

/** The players that are to act now; null once the session is over. */
function seatsDue(driver: MatchDriver, { game, players }: Match, sessionId: string): readonly Seated[] | null {
  const { state, status } = sessionOf(driver, sessionId);
  return status === "completed" ? null : players.filter(({ role }) => game.toAct(state).includes(role));
}

async function askSeats(driver: MatchDriver, match: Match, sessionId: string, due: readonly Seated[]): Promise<void> {
  const session = sessionOf(driver, sessionId);
  match.closedRounds = match.game.rounds?.(session.state).length ?? 0;
  const faults = await faultsOfTurn(driver, match, session, due);
  if (faults.length > 0) await forfeit(driver, sessionId, faults);
}

function sessionOf({ host }: MatchDriver, sessionId: string): Session {
  const kept = host.read(sessionId);
  if (!kept) throw new Error(`session ${sessionId} is not in the log`);
  return kept.session;
}

/** The faults of players that have left and whose endpoint belongs to another player now (PROTOCOL.md, section 3). They cannot be asked. */
const faultsOfLeft = ({ roles }: StartGame): readonly Fault[] =>
  Object.entries(roles)
    .filter(([, { endpoint }]) => endpoint === "")
    .map(([role]) => ({ role, code: "G002", cause: "refused", detail: "has left: another player has its endpoint" }));

async function inviteAll(driver: MatchDriver, match: Match): Promise<readonly Fault[]> {
  const answers = await Promise.all(
    match.players.map(async (player) => {
      const answer = await driver.asker.invite(player, invitationFor(match, player), match.order.timeouts.join_ms);
      return answer.ok ? [] : [{ role: player.role, ...answer.error }];
    }),
  );
  return notifyTimeouts(driver, match, answers.flat());
}

/** Asks every role of the open turn at once; faults of one turn are judged together. */
async function playTurn(driver: MatchDriver, match: Match, session: Session): Promise<Session> {
  const { game } = match;
  const players = game.toAct(session.state).map((role) => playerOf(match, role));
  const faults = await faultsOfTurn(driver, match, session, players);
  if (faults.length > 0) return forfeit(driver, session.id, faults);
  const next = sessionOf(driver, session.id);
  tellRounds(driver, match, next);
  return next;
}

/** Asks all of them at once for their actions in the open turn. */
async function faultsOfTurn(
  driver: MatchDriver,
  match: Match,
  session: Session,
  players: readonly Seated[],
): Promise<readonly Fault[]> {
  const answers = await Promise.all(
    players.map(async (player) => {
      const answer = await driver.asker.move(player, questionFor(driver, match, session, player));
      return answer.ok ? [] : [{ role: player.role, ...answer.error }];
    }),
  );
  return notifyTimeouts(driver, match, answers.flat());
}

/** Notifies each player that has timed out, and returns the faults. */
function notifyTimeouts(driver: MatchDriver, match: Match, faults: readonly Fault[]): readonly Fault[] {
  stopIfWithdrawn(match);
  for (const fault of faults.filter(({ code }) => code === "G002")) tellTimeout(driver, match, fault);
  return faults;
}

function playerOf(match: Match, role: Role): Seated {
  const player = match.players.find((one) => one.role === role);
  if (!player) throw new Error(`nobody plays ${role}`);
  return player;
}

function questionFor(driver: MatchDriver, match: Match, session: Session, player: Seated): MoveQuestion {
  const { order, game } = match;
  const { role } = player;
  const deadline = new Date(systemClock.now() + order.timeouts.move_ms).toISOString();
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
      time_limit_seconds: Math.round(Math.max(0, leftMs)) / 1000,
      deadline,
      last_round_trip_ms: lastRoundTripMs,
      ...(error && { error }),
    }),
    async accept(move) {
      stopIfWithdrawn(match);
      const acted = await driver.host.submit(session.id, { role, action: move, expectedTick: session.turnTick });
      if (acted.ok) return ok(null);
      if (acted.error.code === "ILLEGAL_ACTION") return err(acted.error.message);
      // Where others act through other doors, it may have ended or expired meanwhile: nobody's fault.
      if (acted.error.code === "SESSION_OVER") return ok(null);
      throw new Error(`the session refused a move that was asked for: ${acted.error.message}`);
    },
  };
}

async function forfeit(driver: MatchDriver, sessionId: string, faults: readonly Fault[]): Promise<Session> {
  const ended = await driver.host.forfeit(sessionId, faults);
  if (ended.ok) return ended.value;
  // It may have expired meanwhile.
  if (ended.error.code === "SESSION_OVER") return sessionOf(driver, sessionId);
  throw new Error(`the session refused a forfeit: ${ended.error.message}`);
}

function stopIfWithdrawn(match: Match): void {
  if (match.signal.aborted) throw new MatchWithdrawn(matchRef(match.order.league_id, match.order.match_id));
}
