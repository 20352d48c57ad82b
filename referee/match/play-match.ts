import type { Game, Role } from "#shared/games/game.ts";
import { historyIn, withHistory } from "#shared/games/view-history.ts";
import { type Clock, isoAt } from "#shared/lib/clock.ts";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { type Ids, matchAgentId, matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import { type Contact, parseSpeech, type RoundFacts } from "#shared/protocol/dialects/dialect.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { type AnswerTimes, type OmittedHistory, offersWebSocket } from "#shared/protocol/message-fields.ts";
import type { GameInvite, GameResult, MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { charge, clockFault, timeLeft } from "#shared/session/clocks.ts";
import type { Fault } from "#shared/session/entry.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import { GameFault, rolesToAct, type Session } from "#shared/session/session.ts";
import { type SessionHost, sessionOf } from "../sessions/host.ts";
import { seatView } from "../views.ts";
import { type Asker, type AskFault, publishedFault, type SeatedPlayer } from "./player-messages.ts";

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
function nextStep(driver: HostedDriver, match: DrivenMatch, sessionId: string): Promise<unknown> | null {
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
): DrivenMatch {
  const closedRounds = game.rounds?.(state).length ?? 0;
  const records = { answerTimes: new MatchAnswerTimes(), knownHistory: new KnownHistory() };
  return { order, game, options, players, listeners, signal, closedRounds, ...records };
}

/** The players that are to act. */
const dueIn = ({ players }: DrivenMatch, { game, state }: Session): readonly SeatedPlayer[] =>
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
async function inviteAll(driver: MatchDriver, match: DrivenMatch): Promise<readonly Fault[]> {
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
  match: DrivenMatch,
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
function faultsIn(
  driver: MatchDriver,
  match: DrivenMatch,
  results: readonly Result<unknown, Fault>[],
): readonly Fault[] {
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

/** The number of answers that a player may give in one turn (PROTOCOL.md, section 2). */
const MAX_ANSWERS = 3;

/** The number of further invitations in one turn to a player that does not know the match because its process was restarted. */
const MAX_INVITATIONS = 10;

/**
 * Asks a player for its action in the open turn of `session`, and submits the answer. First waits a short time until the player has answered earlier notifications;
 * this time does not count as the player's. Repeats the request with the error after a malformed answer
 * or an illegal action. The limit of the turn, `player.moveMs` or the clock of the role, covers all requests of the turn. In a match with clocks the
 * player is charged the time from the first request to the arrival of the accepted answer. Time in which this process, and not the player, is busy does
 * not count: the time for which an answer waits to be read, and the time that the check of a rejected action takes.
 * Returns the session after the action was committed, the ended session if it has ended in the meantime, or the fault for which the player
 * forfeits. Rejects with MatchWithdrawn if an answer arrives after the match was withdrawn.
 */
export async function askForMove(
  driver: MatchDriver,
  match: DrivenMatch,
  session: Session,
  player: SeatedPlayer,
): Promise<Result<Session, AskFault>> {
  const { asker, clock } = driver;
  const earlier = asker.inOrder(player);
  // A player without open notifications is asked in the same turn of the event loop.
  if (earlier) await earlier;
  let turn = turnFor(match, session, player);
  const { match_id, tick } = turn;
  const { limitMs, overFault } = turnLimit(session, player);
  let deadline = clock.monotonic() + limitMs;
  let fault: AskFault | null = null;
  let invitations = 0;
  for (let answers = 0; answers < MAX_ANSWERS; answers++) {
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0 || player.signal.aborted) break;
    const request = {
      ...turn,
      deadline: isoAt(clock.now() + leftMs),
      time_limit_seconds: Math.round(leftMs) / 1000,
      last_round_trip_ms: asker.lastRoundTripMs(player.endpoint),
      ...clockField(session, player, limitMs - leftMs),
      ...(fault && { error: protocolError("G001", fault.detail, { match_id, tick }, true) }),
    };
    const reply = await asker.requestMove(player, request, leftMs);
    const answeredAt = clock.monotonic();
    deadline += reply.lateMs;
    if (reply.kind === "move") {
      if (player.wantsDeltaViews) match.knownHistory.answered(match.game, player.role, turn);
      const spentMs = Math.max(0, Math.floor(limitMs - (deadline - answeredAt)));
      if (session.clocks && charge(session.clocks, player.role, spentMs) === null)
        return err(clockFault(session.clocks));
      const acted = await submit(driver, match, session, player, reply.move, spentMs);
      if (acted.ok) {
        match.answerTimes.answered(player.playerId, tick, spentMs);
        return acted;
      }
      deadline += clock.monotonic() - answeredAt;
      fault = { code: "G001", cause: "illegal_move", detail: `illegal move: ${acted.error}`, raw: reply.raw() };
      match.answerTimes.invalid(player.playerId);
    } else if (reply.kind === "unanswered") {
      return err(overFault.cause === "clock" && reply.fault.cause === "timeout" ? overFault : reply.fault);
    } else if (reply.kind === "unknown_match" && invitations < MAX_INVITATIONS) {
      invitations++;
      answers--; // does not count as an answer
      match.knownHistory.forget(player.role);
      turn = turnFor(match, session, player);
      const leftMs = Math.max(1, deadline - clock.monotonic());
      await asker.invite(player, invitationFor(match, player, leftMs), leftMs);
    } else {
      fault = reply.fault;
      match.answerTimes.invalid(player.playerId);
    }
  }
  const isOver = overFault.cause === "clock" && deadline <= clock.monotonic();
  return err(isOver ? overFault : (fault ?? overFault));
}

/** The time limit of a turn, and the fault if it passes without an action. The limit is that for a move or, if it is earlier, the clock of the role. */
function turnLimit({ clocks }: Session, { role, moveMs }: SeatedPlayer): { limitMs: number; overFault: AskFault } {
  if (clocks !== null && timeLeft(clocks, role) <= moveMs)
    return { limitMs: timeLeft(clocks, role), overFault: clockFault(clocks) };
  const detail = `no legal action within ${moveMs} ms`;
  return { limitMs: moveMs, overFault: { code: "G002", cause: "timeout", detail } };
}

/** The clocks in a request, after the role has spent `spentMs` of its time in this turn. Other roles may have acted in a simultaneous turn. */
function clockField({ turnClocks }: Session, { role }: SeatedPlayer, spentMs: number): { clock?: ClockState } {
  if (turnClocks === null) return {};
  const left = Math.max(0, Math.round(timeLeft(turnClocks, role) - spentMs));
  return { clock: { ...turnClocks, remaining_ms: { ...turnClocks.remaining_ms, [role]: left } } };
}

/** Submits the move of a player. Returns the session after the move, or the reason why the move is illegal. */
async function submit(
  driver: MatchDriver,
  match: DrivenMatch,
  { id, turnTick }: Session,
  { role }: SeatedPlayer,
  move: unknown,
  spentMs: number,
): Promise<Result<Session, string>> {
  stopIfWithdrawn(match);
  const acted = await driver.host.submit(id, { role, action: move, expectedTick: turnTick, spentMs });
  if (acted.ok) return acted;
  if (acted.error.code === "ILLEGAL_ACTION") return err(acted.error.message);
  // The session has expired, or ended through another endpoint, while the player was asked: no player is at fault.
  if (acted.error.code === "SESSION_OVER") return ok(sessionOf(driver, id));
  throw new Error(`the session rejected the move of an open request: ${acted.error.message}`);
}

/** The part of a session host that plays matches. */
export interface MatchHost extends Pick<SessionHost, "read" | "submit" | "forfeit"> {
  readonly lobby: Pick<SessionHost["lobby"], "inviting">;
}

/** The context of the functions that play matches. */
export interface MatchDriver {
  readonly host: MatchHost;
  readonly asker: Asker;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with each published fault, its system message and a description of the request, for the log of the process. */
  readonly onFault?: (player: SeatedPlayer, fault: AskFault, request: string) => void;
}

/** The driver of a session host, which also serves other interfaces. */
export interface HostedDriver extends MatchDriver {
  readonly host: SessionHost;
}

/** A match under way. */
export interface DrivenMatch {
  readonly order: StartGame;
  readonly game: Game;
  /** The options of the session, including the defaults for options that the order does not set. */
  readonly options: unknown;
  /** The players that are asked over the wire. */
  readonly players: readonly SeatedPlayer[];
  /** The players that receive ROUND_RESULT. */
  readonly listeners: readonly SeatedPlayer[];
  /** Aborted when the match is withdrawn or the process stops. */
  readonly signal: AbortSignal;
  /** The number of rounds that the players have been notified of or that were closed before this driver began. */
  closedRounds: number;
  readonly answerTimes: MatchAnswerTimes;
  readonly knownHistory: KnownHistory;
}

/** Thrown when the match was withdrawn from this driver or its process stops. The session is not changed. */
export class MatchWithdrawn extends Error {}

/** Throws MatchWithdrawn if the match was withdrawn. */
function stopIfWithdrawn({ signal, order }: DrivenMatch): void {
  if (signal.aborted) throw new MatchWithdrawn(matchRef(order.league_id, order.match_id));
}

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
export function invitationFor({ order, options }: DrivenMatch, player: SeatedPlayer, limitMs: number): GameInvite {
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
  { order, game, closedRounds, knownHistory }: DrivenMatch,
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
function notifyStart({ asker }: MatchDriver, match: DrivenMatch): void {
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
function notifyTimeout({ asker }: MatchDriver, { order, players }: DrivenMatch, { role, cause, detail }: Fault): void {
  const { league_id, match_id, timeouts } = order;
  const payload = { league_id, match_id, ...protocolError("G002", detail, { match_id, role, cause }) };
  const player = players.find((seated) => seated.role === role);
  if (player) void asker.notify(player, "GAME_ERROR", payload, timeouts.game_over_ms);
}

/** Notifies the listeners of the rounds that the last turn has closed. Does not wait for the delivery. */
function notifyRounds({ asker }: MatchDriver, match: DrivenMatch, session: Session): void {
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

/** The fields of a MOVE_REQUEST with a view. */
interface ShownView {
  readonly game_state: unknown;
  readonly omitted_history?: OmittedHistory;
}

/** A player that has lost its history this often in a match gets complete views: each loss costs an invitation and two requests. */
const MAX_LOSSES = 2;

/**
 * The part of the history in its views that each player has: that of the last request that it has answered with a move since its last
 * invitation. Later requests leave it out (PROTOCOL.md, "Views without the known history").
 */
export class KnownHistory {
  readonly #known = new Map<Role, number>();
  readonly #losses = new Map<Role, number>();

  /** Returns the fields of a request that show a view of a role, without the history that the player has. */
  shownView({ info }: Game, role: Role, view: unknown): ShownView {
    const from = this.#known.get(role) ?? 0;
    const list = info.history && historyIn(view, info.history);
    if (!list || from === 0 || from > list.length) return { game_state: view };
    const game_state = withHistory(view, info.history, list.slice(from));
    return { game_state, omitted_history: { list: [...info.history], from } };
  }

  /** The player of a role has answered a request with this view. It has the view also if its move was illegal. */
  answered({ info }: Game, role: Role, { game_state, omitted_history }: ShownView): void {
    if ((this.#losses.get(role) ?? 0) >= MAX_LOSSES) return;
    const shown = info.history && historyIn(game_state, info.history);
    this.#known.set(role, (omitted_history?.from ?? 0) + (shown?.length ?? 0));
  }

  /** The player of a role does not know the match, or lacks what a request has left out. It is invited again. */
  forget(role: Role): void {
    if (this.#known.delete(role)) this.#losses.set(role, (this.#losses.get(role) ?? 0) + 1);
  }
}

interface Measured {
  readonly timesMs: number[];
  slowest: { readonly ms: number; readonly tick: number };
  invalid: number;
}

/** The answer times of the players of one match, for MATCH_RESULT. A turn adds one number. After a restart of the referee they begin again. */
export class MatchAnswerTimes {
  readonly #players = new Map<string, Measured>();

  /** Records a turn whose action was accepted, with the time from its first request to the arrival of the accepted answer. */
  answered(playerId: string, tick: number, ms: number): void {
    const measured = this.#of(playerId);
    measured.timesMs.push(ms);
    if (ms > measured.slowest.ms) measured.slowest = { ms, tick };
  }

  /** Records an invalid answer, or an illegal action. */
  invalid(playerId: string): void {
    this.#of(playerId).invalid++;
  }

  /** Returns the times by player, without players that have completed no turn. */
  summary(): Record<string, AnswerTimes> {
    const measured = [...this.#players].filter(([, { timesMs }]) => timesMs.length > 0);
    return Object.fromEntries(measured.map(([playerId, times]) => [playerId, summaryOf(times)]));
  }

  #of(playerId: string): Measured {
    const known = this.#players.get(playerId);
    if (known) return known;
    const measured: Measured = { timesMs: [], slowest: { ms: -1, tick: 0 }, invalid: 0 };
    this.#players.set(playerId, measured);
    return measured;
  }
}

function summaryOf({ timesMs, slowest, invalid }: Measured): AnswerTimes {
  const sorted = Float64Array.from(timesMs).sort();
  /** The smallest time that at least this share of the turns does not exceed. */
  const quantile = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
  return {
    turns: sorted.length,
    median_ms: quantile(0.5),
    p95_ms: quantile(0.95),
    max_ms: slowest.ms,
    max_tick: slowest.tick,
    invalid,
  };
}
