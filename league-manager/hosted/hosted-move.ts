import { legalMove } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { OpenMatch } from "./hosted-player.ts";
import { viewAfter } from "./match-view.ts";

/** A legal move of a hosted player. */
interface HostedMove {
  /** The match with the turn that the move answers. */
  readonly open: OpenMatch;
  /** The move as the game has parsed it. */
  readonly action: unknown;
  /** The view after the move, or that of the turn if it is not known. */
  readonly view: unknown;
}

/** Decides a move in one of the open turns: of the match that `matchId` names, or of the first one if it is null. */
export function decideMove(
  turns: readonly OpenMatch[],
  matchId: string | null,
  move: unknown,
): Result<HostedMove, ProtocolError> {
  const chosen = openTurn(turns, matchId);
  if (!chosen.ok) return chosen;
  const open = chosen.value;
  const { invite, view } = open.match;
  const game = findGame(invite.game);
  if (!game) throw new Error(`${open.ref} is a match of the unknown game ${invite.game}`);
  const role = invite.your_role;
  const legal = legalMove(game, { view, role, legal: game.legalActions(view, role) }, move);
  if (!legal.ok) return err(protocolError("G001", legal.error, {}, true));
  return ok({ open, action: legal.value, view: viewAfter(game, view, role, legal.value) });
}

/** Finds the turn that a player means. `matchId` has the id of the league or omits it. */
function openTurn(turns: readonly OpenMatch[], matchId: string | null): Result<OpenMatch, ProtocolError> {
  const matching = turns.filter(({ ref }) => matchId === null || ref === matchId || ref.endsWith(`/${matchId}`));
  const [open] = matching;
  if (!open) {
    const named = turns.map(({ ref }) => ref).join(", ");
    const text = named === "" ? "It is not your turn" : `It is not your turn in ${matchId}, but in: ${named}`;
    return err(protocolError("G004", `${text}. Call wait_for_turn`, {}, true));
  }
  if (matchId !== null && matching.length > 1) {
    const named = matching.map(({ ref }) => ref).join(", ");
    return err(protocolError("G004", `match_id is ambiguous; give one of: ${named}`, {}, true));
  }
  return ok(open);
}
