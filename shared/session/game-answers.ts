import type { ShapeFault } from "../games/contract/shape.ts";
import type { Game, Illegal, Outcome, Role } from "../games/game.ts";
import { kindOf } from "../lib/kind-of.ts";
import type { Result } from "../lib/result.ts";

/** A function of a game returned a value that the interface `Game` does not allow. No player is at fault. */
export class GameFault extends Error {
  readonly game: Game;
  /** The function of the game, and what is wrong with its value. */
  readonly fault: ShapeFault;

  constructor(game: Game, name: keyof Game, message: string) {
    super(`${game.id}: ${name} ${message}`);
    this.game = game;
    this.fault = { path: [name], message };
  }
}

/** Returns the roles that are to act. Throws GameFault if the game returns no list. */
export function rolesToAct(game: Game, state: unknown): readonly Role[] {
  const roles: unknown = game.toAct(state);
  if (!Array.isArray(roles)) throw new GameFault(game, "toAct", `must return a list of roles, not ${kindOf(roles)}`);
  return roles;
}

/** Returns the state after an action, or the reason why it is illegal. Throws GameFault if the game returns neither. */
export function appliedAction(game: Game, state: unknown, role: Role, action: unknown): Result<unknown, Illegal> {
  const applied: Partial<Result<unknown, Illegal>> | undefined = game.applyAction(state, role, action);
  if (typeof applied?.ok !== "boolean")
    throw new GameFault(game, "applyAction", `must return ok(STATE) or err({ message }), not ${kindOf(applied)}`);
  return applied as Result<unknown, Illegal>;
}

/** Returns the outcome of a state, or null while the game goes on. Throws GameFault if a role has no finite score, or if there is no reason. */
export function outcomeIn(game: Game, state: unknown): Outcome | null {
  const outcome = game.outcome(state);
  if (!outcome) return null;
  for (const role of game.roles) {
    const score: unknown = (outcome as Partial<Outcome>).scores?.[role];
    if (!Number.isFinite(score))
      throw new GameFault(game, "outcome", `returns a score that is not a finite number: ${kindOf(score)} for ${role}`);
  }
  if (typeof outcome.reason !== "string")
    throw new GameFault(game, "outcome", `must return a reason, not ${kindOf(outcome.reason)}`);
  return outcome;
}
