import { isoAt } from "#shared/lib/clock.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { charge, clockFault, timeLeft } from "#shared/session/clocks.ts";
import type { Session } from "#shared/session/session.ts";
import type { SeatedPlayer } from "./ask.ts";
import type { AskFault } from "./ask-fault.ts";
import { type Match, type MatchDriver, sessionOf, stopIfWithdrawn } from "./driven-match.ts";
import { invitationFor, turnFor } from "./messages.ts";

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
  match: Match,
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
  match: Match,
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
