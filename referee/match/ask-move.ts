import { isoAt } from "#shared/lib/clock.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
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
 * Asks a player for its action in the open turn of `session`, and submits the answer. Repeats the request with the error after a malformed answer
 * or an illegal action. `player.moveMs` covers all requests of the turn. Time in which this process, and not the player, is busy does not count: the time for
 * which an answer waits to be read, and the time that the check of a rejected action takes.
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
  const limitMs = player.moveMs;
  let deadline = clock.monotonic() + limitMs;
  const turn = turnFor(match, session, player);
  const { match_id, tick } = turn;
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
      ...(fault && { error: protocolError("G001", fault.detail, { match_id, tick }, true) }),
    };
    const reply = await asker.requestMove(player, request, leftMs);
    const answeredAt = clock.monotonic();
    deadline += reply.lateMs;
    if (reply.kind === "move") {
      const acted = await submit(driver, match, session, player, reply.move);
      if (acted.ok) return acted;
      deadline += clock.monotonic() - answeredAt;
      fault = { code: "G001", cause: "illegal_move", detail: `illegal move: ${acted.error}`, raw: reply.raw() };
    } else if (reply.kind === "unanswered") {
      return err(reply.fault);
    } else if (reply.kind === "unknown_match" && invitations < MAX_INVITATIONS) {
      invitations++;
      answers--; // does not count as an answer
      await asker.invite(player, invitationFor(match, player), Math.max(1, deadline - clock.monotonic()));
    } else {
      fault = reply.fault;
    }
  }
  return err(fault ?? { code: "G002", cause: "timeout", detail: `no legal action within ${limitMs} ms` });
}

/** Submits the move of a player. Returns the session after the move, or the reason why the move is illegal. */
async function submit(
  driver: MatchDriver,
  match: Match,
  { id, turnTick }: Session,
  { role }: SeatedPlayer,
  move: unknown,
): Promise<Result<Session, string>> {
  stopIfWithdrawn(match);
  const acted = await driver.host.submit(id, { role, action: move, expectedTick: turnTick });
  if (acted.ok) return acted;
  if (acted.error.code === "ILLEGAL_ACTION") return err(acted.error.message);
  // The session has expired, or ended through another endpoint, while the player was asked: no player is at fault.
  if (acted.error.code === "SESSION_OVER") return ok(sessionOf(driver, id));
  throw new Error(`the session rejected the move of an open request: ${acted.error.message}`);
}
