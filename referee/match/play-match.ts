import { err, invariant, type Result } from "#shared/lib/result.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import type { Seated } from "./ask.ts";
import { type AskFault, publishedFault } from "./ask-fault.ts";
import { askForMove } from "./ask-move.ts";
import { type Match, type MatchDriver, sessionOf, stopIfWithdrawn } from "./driven-match.ts";
import {
  invitationFor,
  matchResult,
  notifyResult,
  notifyRounds,
  notifyStart,
  notifyTimeout,
  seatedPlayers,
} from "./messages.ts";

/**
 * Plays a match to its end by asking its players, and returns its result for the manager. A session that has begun is continued.
 * Rejects with MatchWithdrawn once `signal` is aborted, and with any error that is not a player's fault.
 */
export async function playMatch(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<MatchResult> {
  let session = sessionOf(driver, sessionId);
  const players = seatedPlayers(order, signal);
  const listeners = players.filter((player) => player.wantsRoundResults);
  const match = matchOf(order, session, players, listeners, signal);
  const left = faultsOfLeft(order);
  if (session.status === "active" && left.length > 0) session = await forfeit(driver, sessionId, left);
  if (session.status === "active" && session.tick === 0) {
    const accepted = driver.host.lobby.inviting(sessionId);
    const faults = await inviteAll(driver, match).finally(accepted);
    if (faults.length > 0) session = await forfeit(driver, sessionId, faults);
    else notifyStart(driver, match);
  }
  while (session.status === "active") {
    session = await playTurn(driver, match, session, dueIn(match, session));
    notifyRounds(driver, match, session);
  }
  return matchResult(driver, order, session);
}

/**
 * Plays those seats of a session that have an endpoint, each when it is to act, while the other seats act through other interfaces. Sends the
 * players the result. Rejects with MatchWithdrawn once `signal` is aborted.
 */
export async function playSeats(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const match = matchOf(order, sessionOf(driver, sessionId), seatedPlayers(order, signal), [], signal);
  if (sessionOf(driver, sessionId).status === "active") {
    const faults = await inviteAll(driver, match);
    if (faults.length > 0) await forfeit(driver, sessionId, faults);
  }
  for (let step = nextStep(driver, match, sessionId); step !== null; step = nextStep(driver, match, sessionId)) {
    await step;
  }
  void notifyResult(driver, order, matchResult(driver, order, sessionOf(driver, sessionId)), signal);
}

/**
 * Asks the seats that are to act or, if none has an endpoint, waits for the next commit; null once the session is over. Holds no session while it
 * waits, so that the host can release an abandoned one from memory. Subscribes to the commit in the same turn of the event loop in which it has
 * read the session, so that none is missed.
 */
function nextStep(driver: MatchDriver, match: Match, sessionId: string): Promise<unknown> | null {
  const session = sessionOf(driver, sessionId);
  if (session.status === "completed") return null;
  const due = dueIn(match, session);
  if (due.length === 0) return driver.host.nextCommit(sessionId, match.signal).catch(() => stopIfWithdrawn(match));
  match.closedRounds = match.game.rounds?.(session.state).length ?? 0;
  return playTurn(driver, match, session, due);
}

/** A match as its driver begins or resumes it. Rounds that are closed already count as notified. */
function matchOf(
  order: StartGame,
  { game, options, state }: Session,
  players: readonly Seated[],
  listeners: readonly Seated[],
  signal: AbortSignal,
): Match {
  const closedRounds = game.rounds?.(state).length ?? 0;
  return { order, game, options, players, listeners, signal, closedRounds };
}

/** The players that are to act now. */
const dueIn = ({ players }: Match, { game, state }: Session): readonly Seated[] =>
  game.toAct(state).flatMap((role) => players.find((player) => player.role === role) ?? []);

/** The faults of players that have left and whose endpoint belongs to another player now (PROTOCOL.md, section 3). They cannot be asked. */
const faultsOfLeft = ({ roles }: StartGame): readonly Fault[] =>
  Object.entries(roles)
    .filter(([, { endpoint }]) => endpoint === "")
    .map(([role]) => ({ role, code: "G002", cause: "refused", detail: "has left: another player has its endpoint" }));

/** Invites all players at once. Returns the faults of those that have not accepted. */
async function inviteAll(driver: MatchDriver, match: Match): Promise<readonly Fault[]> {
  const { join_ms } = match.order.timeouts;
  const answers = await Promise.all(
    match.players.map(async (player) => {
      const answer = await driver.asker.invite(player, invitationFor(match, player), join_ms);
      return answer.ok ? answer : err(chargedTo(driver, player, answer.error, "GAME_INVITE"));
    }),
  );
  return faultsIn(driver, match, answers);
}

/**
 * Asks the players that are to act all at once, and ends the session if any of them fails: the faults of one turn are judged together. Returns the
 * session after the turn.
 */
async function playTurn(driver: MatchDriver, match: Match, session: Session, due: readonly Seated[]): Promise<Session> {
  invariant(due.length > 0, `no player is to act in session ${session.id}`);
  const answers = await Promise.all(
    due.map(async (player) => {
      const answer = await askForMove(driver, match, session, player);
      if (answer.ok) return answer;
      const request = `MOVE_REQUEST ${match.order.match_id} tick ${session.turnTick}`;
      return err(chargedTo(driver, player, answer.error, request));
    }),
  );
  const faults = faultsIn(driver, match, answers);
  if (faults.length > 0) return forfeit(driver, session.id, faults);
  return answers.reduce((latest, answer) => (answer.ok ? laterOf(latest, answer.value) : latest), session);
}

/** The later one of two states of a session. */
const laterOf = (one: Session, other: Session): Session =>
  one.status === "completed" || one.tick > other.tick ? one : other;

/** A player's fault as the session's log holds it. Also passes it, with the system's message, to the process's log, unless the match was withdrawn while the player was asked. */
function chargedTo({ onFault }: MatchDriver, player: Seated, fault: AskFault, request: string): Fault {
  const published = publishedFault(fault, player.matchToken);
  const { systemMessage } = fault;
  if (!player.signal.aborted) onFault?.(player, { ...published, ...(systemMessage && { systemMessage }) }, request);
  return { role: player.role, ...published };
}

/** The faults among the results of one turn. Notifies each player that has timed out. Throws MatchWithdrawn if the match was withdrawn. */
function faultsIn(driver: MatchDriver, match: Match, results: readonly Result<unknown, Fault>[]): readonly Fault[] {
  stopIfWithdrawn(match);
  const faults = results.flatMap((result) => (result.ok ? [] : [result.error]));
  for (const fault of faults) if (fault.code === "G002") notifyTimeout(driver, match, fault);
  return faults;
}

/** Ends a session for the faults of one turn, and returns it. */
async function forfeit(driver: MatchDriver, sessionId: string, faults: readonly Fault[]): Promise<Session> {
  const ended = await driver.host.forfeit(sessionId, faults);
  if (ended.ok) return ended.value;
  // It has expired in the meantime.
  if (ended.error.code === "SESSION_OVER") return sessionOf(driver, sessionId);
  throw new Error(`the session refused a forfeit: ${ended.error.message}`);
}
