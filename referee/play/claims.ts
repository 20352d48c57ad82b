import type { Role } from "#shared/games/game.ts";
import { winnersOf } from "#shared/games/game.ts";
import type { Session } from "#shared/session/session.ts";

/** An assertion about the position after a move. */
export type Claim = "checkmate" | "draw" | "win";

/**
 * The reason why a claim about the position after a move is false; null if it is true. Games with hidden information accept no claims,
 * because a rejection would reveal hidden information.
 */
export function falseClaim({ game, state }: Session, role: Role, action: unknown, claim: Claim): string | null {
  if (game.info.simultaneous || game.info.hiddenInformation)
    return `No claims in ${game.info.name}: the server detects the end of the game`;
  const parsed = game.action.safeParse(action);
  const applied = parsed.success ? game.applyAction(state, role, parsed.data) : null;
  if (!applied?.ok) return null; // the session rejects the move with the reason
  const outcome = game.outcome(applied.value);
  const winners = outcome && winnersOf(outcome);
  const isWon = winners?.length === 1 && winners[0] === role;
  switch (claim) {
    case "draw":
      return outcome && winners === null ? null : "Accusation failed: Not a draw";
    case "checkmate":
      return isWon && outcome?.reason === "checkmate" ? null : "Accusation failed: Not checkmate";
    case "win":
      return isWon ? null : `Accusation failed: Not ${game.info.winningReason ?? "a win"}`;
  }
}
