import { type Role, type Team, winnersOf } from "../games/game.ts";
import type { Ending, Termination } from "./session.ts";

/** League points of one match. */
export const POINTS = { win: 3, draw: 1, loss: 0 } as const;

/** What a finished session means for its roles. */
export interface Verdict {
  /** Several where a team wins; empty for a draw, or when no role wins. */
  readonly winners: readonly Role[];
  /** The one role that wins; null when none does, or several do. */
  readonly winner: Role | null;
  readonly scores: Readonly<Record<Role, number>>;
  readonly points: Readonly<Record<Role, number>>;
  readonly termination: Termination;
  readonly reason: string;
}

/**
 * The verdict of a completed session. A forfeit gives 3 points to the role, or the team, without a fault; all at fault in
 * one turn is a loss for all; an aborted or expired session gives no points.
 */
export function verdictOf(session: Ending): Verdict {
  const { game, termination, reason } = session;
  if (termination === null || reason === null) throw new Error("the session has not ended");
  const winners = winningRoles(session);
  const drawn = termination === "normal" && winners.length === 0;
  const points = perRole(game.roles, (role) =>
    drawn ? POINTS.draw : winners.includes(role) ? POINTS.win : POINTS.loss,
  );
  return {
    winners,
    winner: winners.length === 1 ? (winners[0] ?? null) : null,
    scores: scoresOf(session),
    points,
    termination,
    reason,
  };
}

/** The fields of a verdict for boards and lists. */
export function resultOf(session: Ending): Pick<Verdict, "winners" | "winner" | "reason" | "termination"> {
  const { winners, winner, reason, termination } = verdictOf(session);
  return { winners, winner, reason, termination };
}

function winningRoles({ game, termination, faults, outcome }: Ending): readonly Role[] {
  if (termination === "forfeit") {
    const atFault = faults.map((fault) => fault.role);
    return winningTeams({ roles: game.roles, teams: game.info.teams }, atFault);
  }
  return (outcome && winnersOf(outcome)) ?? [];
}

/** The roles that win when the roles `atFault` forfeit: those whose team has no fault. Without teams each role plays for itself. */
export function winningTeams(
  {
    roles,
    teams = roles.map((role) => ({ roles: [role] })),
  }: { readonly roles: readonly Role[]; readonly teams: readonly Pick<Team, "roles">[] | undefined },
  atFault: readonly Role[],
): readonly Role[] {
  return teams.flatMap((team) => (team.roles.some((role) => atFault.includes(role)) ? [] : team.roles));
}

function scoresOf(session: Ending): Readonly<Record<Role, number>> {
  return (
    session.outcome?.scores ??
    session.game.rounds?.(session.state).at(-1)?.scores ??
    perRole(session.game.roles, () => 0)
  );
}

function perRole(roles: readonly Role[], value: (role: Role) => number): Record<Role, number> {
  return Object.fromEntries(roles.map((role) => [role, value(role)]));
}
