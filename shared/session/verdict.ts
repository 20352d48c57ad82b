import { type Role, winnersOf } from "../games/game.ts";
import type { Session, Termination } from "./session.ts";

/** League points of one match (league-protocol.md, Scoring). */
export const POINTS = { win: 3, draw: 1, loss: 0 } as const;

/** What a finished session means for its two roles. */
export interface Verdict {
  readonly winner: Role | null;
  readonly scores: Readonly<Record<Role, number>>;
  readonly points: Readonly<Record<Role, number>>;
  readonly termination: Termination;
  readonly reason: string;
}

/**
 * The verdict of a completed session. A forfeit gives 3 points to the role without a fault; all roles at fault in one
 * turn is a loss for all; an aborted or expired session gives no points.
 */
export function verdictOf(session: Session): Verdict {
  const { game, termination, reason } = session;
  if (termination === null || reason === null) throw new Error(`session ${session.id} has not ended`);
  const winners = winningRoles(session);
  const drawn = termination === "normal" && winners.length === 0;
  const points = perRole(game.roles, (role) =>
    drawn ? POINTS.draw : winners.includes(role) ? POINTS.win : POINTS.loss,
  );
  return {
    winner: winners.length === 1 ? (winners[0] ?? null) : null,
    scores: scoresOf(session),
    points,
    termination,
    reason,
  };
}

function winningRoles(session: Session): readonly Role[] {
  if (session.termination === "forfeit") {
    const atFault = session.faults.map((fault) => fault.role);
    return session.game.roles.filter((role) => !atFault.includes(role));
  }
  return (session.outcome && winnersOf(session.outcome)) ?? [];
}

function scoresOf(session: Session): Readonly<Record<Role, number>> {
  return (
    session.outcome?.scores ??
    session.game.rounds?.(session.state).at(-1)?.scores ??
    perRole(session.game.roles, () => 0)
  );
}

function perRole(roles: readonly Role[], value: (role: Role) => number): Record<Role, number> {
  return Object.fromEntries(roles.map((role) => [role, value(role)]));
}
