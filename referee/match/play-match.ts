import { err, type Result } from "#shared/lib/result.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import type { Fault } from "#shared/session/entry.ts";
import { GameFault, rolesToAct, type Session } from "#shared/session/session.ts";
import { MatchAnswerTimes } from "./answer-times.ts";
import type { SeatedPlayer } from "./ask.ts";
import { type AskFault, publishedFault } from "./ask-fault.ts";
import { askForMove } from "./ask-move.ts";
import { type HostedDriver, type Match, type MatchDriver, sessionOf, stopIfWithdrawn } from "./driven-match.ts";
import { KnownHistory } from "./known-history.ts";
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
 * Plays a match to its end by asking its players, and resolves with its result for the manager. Continues a session that has begun.
 * Rejects with MatchWithdrawn if `signal` is aborted, and with any error that is not the fault of a player.
 */
export async function playMatch(
  driver: MatchDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<MatchResult> {
  let session = sessionOf(driver, sessionId);
  const players = seatedPlayers(driver, order, sessionId, signal);
  const listeners = players.filter((player) => player.wantsRoundResults);
  const match = matchOf(order, session, players, listeners, signal);
  const absent = faultsOfAbsent(order);
  if (session.status === "active" && absent.length > 0) session = await forfeit(driver, sessionId, absent);
  if (session.status === "active" && session.tick === 0) {
    const accepted = driver.host.lobby.inviting(session);
    const faults = await inviteAll(driver, match).finally(accepted);
    if (faults.length > 0) session = await forfeit(driver, sessionId, faults);
    else notifyStart(driver, match);
  }
  while (session.status === "active") {
    session = await playTurn(driver, match, session, dueIn(match, session));
    notifyRounds(driver, match, session);
  }
  return { ...matchResult(driver, order, session), answer_times: match.answerTimes.summary() };
}

/**
 * Plays those seats of a session that have an endpoint, each when it is to act, while the other seats act through other interfaces. Sends the
 * players the result. Rejects with MatchWithdrawn once `signal` is aborted.
 */
export async function playSeats(
  driver: HostedDriver,
  order: StartGame,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  const players = seatedPlayers(driver, order, sessionId, signal);
  const match = matchOf(order, sessionOf(driver, sessionId), players, [], signal);
  if (sessionOf(driver, sessionId).status === "active") {
    const faults = await inviteAll(driver, match);
    if (faults.length > 0) await forfeit(driver, sessionId, faults);
  }
  for (let step = nextStep(driver, match, sessionId); step !== null; step = nextStep(driver, match, sessionId)) {
    await step;
  }
  void notifyResult(driver, order, sessionId, matchResult(driver, order, sessionOf(driver, sessionId)), signal);
}

/**
 * Asks the seats that are to act or, if none of them has an endpoint, waits for the next commit. Returns null if the session is over. It has no
 * reference to the session while it waits, so that the host can remove an abandoned session from memory. It reads the session and
 * subscribes to the next commit in the same turn of the event loop, so that it misses no commit.
 */
function nextStep(driver: HostedDriver, match: Match, sessionId: string): Promise<unknown> | null {
  const session = sessionOf(driver, sessionId);
  if (session.status === "completed") return null;
  const due = dueIn(match, session);
  if (due.length === 0) return driver.host.nextCommit(sessionId, match.signal).catch(() => stopIfWithdrawn(match));
  match.closedRounds = match.game.rounds?.(session.state).length ?? 0;
  return playTurn(driver, match, session, due);
}

/** The match that a driver begins or resumes. Closed rounds count as notified. */
function matchOf(
  order: StartGame,
  { game, options, state }: Session,
  players: readonly SeatedPlayer[],
  listeners: readonly SeatedPlayer[],
  signal: AbortSignal,
): Match {
  const closedRounds = game.rounds?.(state).length ?? 0;
  const records = { answerTimes: new MatchAnswerTimes(), knownHistory: new KnownHistory() };
  return { order, game, options, players, listeners, signal, closedRounds, ...records };
}

/** The players that are to act. */
const dueIn = ({ players }: Match, { game, state }: Session): readonly SeatedPlayer[] =>
  rolesToAct(game, state).flatMap((role) => players.find((player) => player.role === role) ?? []);

/** The faults of players whose endpoint belongs to another player now (PROTOCOL.md, section 3). They cannot be asked. */
const faultsOfAbsent = ({ roles }: StartGame): readonly Fault[] =>
  Object.entries(roles)
    .filter(([, { endpoint }]) => endpoint === "")
    .map(([role]) => ({
      role,
      code: "G002",
      cause: "refused",
      detail: "has left; its endpoint belongs to another player",
    }));

/** Invites all players at the same time. Resolves with the faults of players that have not accepted. */
async function inviteAll(driver: MatchDriver, match: Match): Promise<readonly Fault[]> {
  const { join_ms } = match.order.timeouts;
  const answers = await Promise.all(
    match.players.map(async (player) => {
      const answer = await driver.asker.invite(player, invitationFor(match, player, join_ms), join_ms);
      return answer.ok ? answer : err(recordedFault(driver, player, answer.error, "GAME_INVITE"));
    }),
  );
  return faultsIn(driver, match, answers);
}

/**
 * Asks the players that are to act at the same time. If any of them fails, ends the session with the faults of all. Resolves with the session
 * after the turn.
 */
async function playTurn(
  driver: MatchDriver,
  match: Match,
  session: Session,
  due: readonly SeatedPlayer[],
): Promise<Session> {
  if (due.length === 0) throw new GameFault(match.game, "toAct", "names no role, but outcome returns null");
  const answers = await Promise.all(
    due.map(async (player) => {
      const answer = await askForMove(driver, match, session, player);
      if (answer.ok) return answer;
      const request = `MOVE_REQUEST ${match.order.match_id} tick ${session.turnTick}`;
      return err(recordedFault(driver, player, answer.error, request));
    }),
  );
  const faults = faultsIn(driver, match, answers);
  if (faults.length > 0) return forfeit(driver, session.id, faults);
  return answers.reduce((latest, answer) => (answer.ok ? laterOf(latest, answer.value) : latest), session);
}

/** Returns the later one of two states of a session. */
const laterOf = (one: Session, other: Session): Session =>
  one.status === "completed" || one.tick > other.tick ? one : other;

/** Returns the fault of a player for the session log. Also passes it with the system message to `onFault`, unless the match was withdrawn. */
function recordedFault({ onFault }: MatchDriver, player: SeatedPlayer, fault: AskFault, request: string): Fault {
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

/** Ends a session with the faults of one turn. Resolves with the session. */
async function forfeit(driver: MatchDriver, sessionId: string, faults: readonly Fault[]): Promise<Session> {
  const ended = await driver.host.forfeit(sessionId, faults);
  if (ended.ok) return ended.value;
  // The session has expired in the meantime.
  if (ended.error.code === "SESSION_OVER") return sessionOf(driver, sessionId);
  throw new Error(`the session rejected a forfeit: ${ended.error.message}`);
}
