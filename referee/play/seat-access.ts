import type { Role, Viewer } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlayDesk } from "./desk.ts";

/** A game and the role of its caller. */
export interface SeatedPlayer {
  readonly stored: StoredSession;
  readonly role: Role;
}

/** The seat that a token stands for: that of the seat itself, or a bearer token that it is bound to. */
export function seatOf(desk: PlayDesk, gameId: string, token: string | null): Result<SeatedPlayer, Rejection> {
  const stored = desk.host.read(gameId);
  if (!stored) return noSuchGame(gameId);
  const role = token === null ? null : roleOf(desk, stored, token);
  if (role === "unclear") {
    const why = "other agents with your bearer token play this game, or may join it";
    return rejected("AMBIGUOUS_SEAT", `${why}: say seat_token`);
  }
  if (role === null && lookAt(desk, gameId, null) === null) return noSuchGame(gameId);
  if (role === null) {
    const fault = token === null ? "is missing" : "holds no seat of this game";
    return rejected("NO_SEAT", `seat_token: ${fault}; createGame and joinGame give it, and it is told once`);
  }
  return ok({ stored, role });
}

/** A game as a seat or a spectator may see it; null for a session that the caller may not watch. */
export function lookAt(
  desk: PlayDesk,
  gameId: string,
  token: string | null,
): { readonly stored: StoredSession; readonly viewer: Viewer } | null {
  const stored = desk.host.read(gameId);
  if (!stored) return null;
  const role = token === null ? null : roleOf(desk, stored, token);
  if (role !== null && role !== "unclear") return { stored, viewer: role };
  const { actedBy, spectators } = stored.access;
  // A league match may be watched by anyone, as its resource game://state is.
  return spectators === "public" || actedBy === "driver" ? { stored, viewer: "spectator" } : null;
}

/**
 * The role that a token stands for. Agents of one host may share a bearer token. It stands for a seat only if no other agent can be meant:
 * not if it has taken several seats, and not while another agent may still join with it.
 */
function roleOf({ agents, seats }: PlayDesk, stored: StoredSession, token: string): Role | "unclear" | null {
  const agentId = agents.holderOf(token);
  const own = Object.entries(stored.session.participants).find(([, id]) => id === agentId);
  if (own) return own[0];
  const hash = sha256Hex(token);
  const placed = seats.of(stored.session.id);
  const [bound, another] = placed.filter(({ holder }) => holder === hash);
  if (!bound) return null;
  return another || placed.some(({ joined }) => !joined) ? "unclear" : bound.role;
}

export const noSuchGame = (gameId: string) =>
  rejected("UNKNOWN_SESSION", `No game ${gameId.slice(0, 100)} here`, { game_id: gameId.slice(0, 100) });
