import type { Role } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Session } from "#shared/session/session.ts";

/** The reason why a session accepts no moves yet. */
interface Waiting {
  /** The roles whose players have not joined yet. */
  readonly roles: readonly Role[];
  readonly message: string;
}

/** The sessions that wait for players, because seats are open or invitations are not accepted yet. */
export interface Lobby {
  /** The reason why a session waits; null once all players have joined. */
  waiting(session: Session): Waiting | null;
  /** Marks a session as inviting its players until the returned function is called. */
  inviting(session: Session): () => void;
  /** The time at which the players of a session had accepted, or at which this process was started if they had accepted before. */
  begunAt(session: Session): number;
  isInviting(sessionId: string): boolean;
  /** Notifies the watchers of a session that a seat was taken or named. */
  seatChanged(sessionId: string): void;
}

/** Creates a lobby. `openRoles` returns the open seats of a session. `onChange` is called when a session may have begun. */
export function createLobby(
  openRoles: (sessionId: string) => readonly Role[],
  onChange: (sessionId: string) => void,
  clock: Pick<Clock, "now">,
): Lobby {
  const invited = new Set<string>();
  const startedAt = clock.now();
  /** The times of sessions without moves. */
  const begun = new WeakMap<Session, number>();
  return {
    waiting({ id, status, tick, game }) {
      // No move is accepted before all players have joined, so a session with moves has begun.
      if (status === "completed" || tick > 0) return null;
      if (invited.has(id)) {
        return { roles: game.roles, message: "Waiting for players: not all of them have accepted the invitation" };
      }
      const roles = openRoles(id);
      if (roles.length === 0) return null;
      const missing = `${roles.join(" and ")} ${roles.length === 1 ? "has" : "have"} not joined yet`;
      return { roles, message: `Waiting for players: ${missing}. Moves are accepted once every seat is taken` };
    },
    inviting(session) {
      invited.add(session.id);
      return () => {
        begun.set(session, clock.now());
        if (invited.delete(session.id)) onChange(session.id);
      };
    },
    begunAt: (session) => begun.get(session) ?? startedAt,
    isInviting: (sessionId) => invited.has(sessionId),
    seatChanged: onChange,
  };
}
