import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { explainIllegal, readMove } from "#shared/games/move-text.ts";
import { isSessionId } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import { id, WrittenMove } from "#shared/protocol/message-fields.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Session } from "#shared/session/session.ts";
import { playerOf } from "../agents.ts";
import { protocolRejected, protocolResult, type Rejection, rejected } from "../sessions/rejections.ts";
import { driverView, spectatorView } from "../views/session-views.ts";
import type { RefereeContext } from "./context.ts";

const ValidateMove = z.object({
  player_id: id.describe("player of a league match, or the role in a game made with createGame, e.g. white"),
  move: z.unknown(),
  match_id: id.optional().describe("match_id of a league match, or game_id of a game made with createGame"),
});

/** Another value is accepted too, and is not a legal move. */
const Input = ValidateMove.extend({ move: WrittenMove.describe("the move as in finishTurn or make_move") });

/** VALIDATE_MOVE: checks whether a move would be legal now, without playing it. */
export const validateMove = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "VALIDATE_MOVE",
    reply: "VALIDATE_MOVE_RESPONSE",
    payload: ValidateMove,
    tool: {
      name: "validate_move",
      title: "Validate a move",
      description:
        "Checks whether a move would be legal now, without making it. Returns valid, and a reason if the move is not legal.",
      plain: ValidateMove,
      input: Input,
      result: z.object({
        valid: z.boolean(),
        reason: z.string().nullable().describe("why the move is not legal; null if it is legal"),
        player_id: z.string(),
        role: z.string(),
        move: z.unknown(),
      }),
      annotations: { readOnlyHint: true },
    },
    handle({ player_id, move, match_id }, caller) {
      const game =
        match_id !== undefined && isSessionId(match_id) ? context.play.accessTo(match_id, caller.authToken) : null;
      const found = game ? seatIn(game.stored.session, player_id) : sessionWith(context, player_id, match_id);
      if (!found.ok) return protocolResult(found);
      const { session, role } = found.value;
      if (session.status === "completed") {
        const message = `the match is over: ${session.reason}`;
        return protocolRejected("SESSION_OVER", message, { match_id: match_id ?? null });
      }
      const reason = context.host.lobby.waiting(session)?.message ?? whyIllegal(session, role, move);
      return ok({ valid: reason === null, reason, player_id, role, move });
    },
  });

type SessionSeat = Result<{ session: Session; role: Role }, Rejection>;

/** Returns the seat of a game by its role or by the agent that holds it. */
function seatIn(session: Session, playerId: string): SessionSeat {
  const role = Object.entries(session.participants).find((seat) => seat.includes(playerId))?.[0];
  if (role !== undefined) return ok({ session, role });
  return rejected("UNKNOWN_PLAYER", `player_id: this game has the roles ${session.game.roles.join(" and ")}`);
}

/** The session and role of a player in a match under way, or in the completed match `matchId`. */
function sessionWith(context: RefereeContext, playerId: string, matchId: string | undefined): SessionSeat {
  const seats = context.referee.running().flatMap(({ ref, order, sessionId }) => {
    const role = Object.entries(order.roles).find(([, player]) => player.player_id === playerId)?.[0];
    const isMatch = matchId === undefined || matchId === ref || matchId === order.match_id;
    return role !== undefined && isMatch ? [{ ref, role, sessionId }] : [];
  });
  const [only, another] = seats;
  if (!only) {
    const finished = matchId === undefined ? null : finishedWith(context, playerId, matchId);
    if (finished) return ok(finished);
    const remedy = "for a game made with createGame give match_id (its game_id) and player_id (the role)";
    return rejected("UNKNOWN_SESSION", `${playerId} has no such match here; ${remedy}`, { player_id: playerId });
  }
  if (another) {
    const choices = seats.map(({ ref }) => ref);
    return rejected("AMBIGUOUS_MATCH", `${playerId} plays several matches; give match_id`, { choices });
  }
  const session = context.host.read(only.sessionId)?.session;
  if (!session) return rejected("UNKNOWN_SESSION", "the match has just ended", { player_id: playerId });
  return ok({ session, role: only.role });
}

/** The session and role of a player in a match that is over; null if there is no such match. */
function finishedWith({ referee, host }: RefereeContext, playerId: string, matchId: string) {
  const sessionId = referee.sessionOf(matchId);
  const session = sessionId.ok ? host.read(sessionId.value)?.session : undefined;
  const seat = Object.entries(session?.participants ?? {}).find(([, agentId]) => playerOf(agentId) === playerId);
  return session?.status === "completed" && seat ? { session, role: seat[0] } : null;
}

/** The reason why a move is not legal; null if it is legal. In a simultaneous turn the answer does not depend on whether the role has chosen. */
function whyIllegal(session: Session, role: Role, move: unknown): string | null {
  const { game, state } = session;
  const action = game.action.safeParse(readMove(game, spectatorView(session).state, role, move));
  if (!action.success) return action.error.issues[0]?.message ?? "not an action of this game";
  if (game.isDriverAction?.(action.data)) return "not an action of a player";
  if (game.info.simultaneous) {
    const legal = game.legalActions(spectatorView(session).state, role);
    const isLegal = legal.some((legalAction) => isDeepStrictEqual(legalAction, action.data));
    return isLegal ? null : `choose one of ${legal.map((legalAction) => JSON.stringify(legalAction)).join(", ")}`;
  }
  if (!driverView(session).toAct.includes(role)) return "Not your turn";
  const applied = game.applyAction(state, role, action.data);
  return applied.ok ? null : (explainIllegal(game, state, move) ?? applied.error.message);
}
