import type { Role, Viewer } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlayContext } from "./context.ts";

/** A game and the role of its caller. */
export interface SeatAccess {
  readonly stored: StoredSession;
  readonly role: Role;
}

/** Returns the seat of a token, which is the token of the seat or a bearer token to which the seat is bound. Rejects unknown and ambiguous tokens. */
export function seatOf(context: PlayContext, gameId: string, token: string | null): Result<SeatAccess, Rejection> {
  const stored = context.host.read(gameId);
  if (!stored) return noSuchGame(gameId);
  const role = token === null ? null : roleOf(context, stored, token);
  if (role === "ambiguous") {
    const reason = "other agents with your bearer token play this game or may join it";
    return rejected("AMBIGUOUS_SEAT", `${reason}: give seat_token`);
  }
  if (role === null && accessTo(context, gameId, null) === null) return noSuchGame(gameId);
  if (role === null) {
    const fault = token === null ? "is missing" : "holds no seat of this game";
    return rejected("NO_SEAT", `seat_token: ${fault}; createGame and joinGame return it, only once`);
  }
  return ok({ stored, role });
}

/** A session with the viewer as which the holder of a token may read it; null if the caller may not read it. */
export function accessTo(
  context: PlayContext,
  gameId: string,
  token: string | null,
): { readonly stored: StoredSession; readonly viewer: Viewer } | null {
  const stored = context.host.read(gameId);
  if (!stored) return null;
  const role = token === null ? null : roleOf(context, stored, token);
  if (role !== null && role !== "ambiguous") return { stored, viewer: role };
  const { actedBy, spectators } = stored.access;
  // Any caller may watch a league match, which is also readable as the resource game://state.
  return spectators === "public" || actedBy === "driver" ? { stored, viewer: "spectator" } : null;
}

/**
 * The role of a token. Agents of one MCP host may share a bearer token. Such a token is ambiguous if it has taken several seats, or while
 * another agent may still join with it.
 */
function roleOf({ agents, seats }: PlayContext, stored: StoredSession, token: string): Role | "ambiguous" | null {
  const agentId = agents.holderOf(token);
  const ownSeat = Object.entries(stored.session.participants).find(([, id]) => id === agentId);
  if (ownSeat) return ownSeat[0];
  const hash = sha256Hex(token);
  const gameSeats = seats.of(stored.session.id);
  const [bound, another] = gameSeats.filter(({ holder }) => holder === hash);
  if (!bound) return null;
  return another || gameSeats.some(({ joined }) => !joined) ? "ambiguous" : bound.role;
}

/** The rejection for an unknown game. */
export const noSuchGame = (gameId: string) =>
  rejected("UNKNOWN_SESSION", `No game ${gameId.slice(0, 100)} here`, { game_id: gameId.slice(0, 100) });
