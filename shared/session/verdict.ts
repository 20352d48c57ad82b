import { type Role, type Team, winnersOf } from "../games/game.ts";
import type { Ending, Termination } from "./session.ts";

/** League points of one match. */
export const POINTS = { win: 3, draw: 1, loss: 0 } as const;

/** The result of a completed session, by role. */
interface Verdict {
  /** Several roles if a team wins; empty if no role wins. */
  readonly winners: readonly Role[];
  /** The winning role; null if no role or several roles win. */
  readonly winner: Role | null;
  readonly scores: Readonly<Record<Role, number>>;
  readonly points: Readonly<Record<Role, number>>;
  readonly termination: Termination;
  readonly reason: string;
}

/**
 * Returns the verdict of a completed session. Throws if the session is active. After a forfeit each role whose team has
 * no fault gets 3 points; if all are at fault in one turn, all lose. An aborted or expired session gives no points.
 */
export function verdictOf(session: Ending): Verdict {
  const { game, termination, reason } = session;
  if (termination === null || reason === null) throw new Error("the session has not ended");
  const winners = winningRoles(session);
  const isDraw = termination === "normal" && winners.length === 0;
  const points = perRole(game.roles, (role) =>
    isDraw ? POINTS.draw : winners.includes(role) ? POINTS.win : POINTS.loss,
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

/** Returns the fields of a verdict that boards and lists show. */
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

/**
 * Returns the roles that win when the roles `atFault` forfeit: the members of each team without a fault. Without teams,
 * each role forms a team.
 */
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
