import { type Game, winnersOf } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { shownView } from "#shared/games/view-history.ts";
import { invariant } from "#shared/lib/result.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { HostedMatch } from "./hosted-player.ts";

/** Returns a match as its hosted player sees it, for boards and texts. `nameOf` returns the name of a player, `nowMs` is the monotonic time. */
export function matchView(
  ref: string,
  { invite, view, isStarted, tick, turn, moved, result, clock, turnStartMs }: HostedMatch,
  nameOf: (playerId: string) => string,
  nowMs: number,
): GameView {
  const game = findGame(invite.game);
  invariant(game, `${ref} is a match of a known game`);
  const { your_role: role } = invite;
  const player = (id: string) => ({ kind: "agent", name: nameOf(id), joined: true }) as const;
  const others = game.roles.filter((other) => other !== role);
  return {
    // Another attempt at the match is another game, whose ticks begin at 0 again.
    game_id: invite.epoch === 1 ? ref : `${ref}#${invite.epoch}`,
    template: game.id,
    name: game.info.name,
    status: result ? "completed" : isStarted ? "active" : "waiting_for_players",
    tick: result ? tick + 1 : tick,
    your_role: role,
    roles: game.roles,
    ...(invite.epoch > 1 && { restart: { attempt: invite.epoch, reason: invite.restart_reason ?? null } }),
    players: Object.fromEntries(game.roles.map((name) => [name, player(invite.roles[name] ?? name)])),
    to_act: result ? [] : turn ? [role] : others,
    state: shownView(game.info, view),
    legal_actions: turn ? game.legalActions(view, role) : [],
    board: view === null ? "" : game.toText(view, role),
    // The moves of the opponents are in the view only, in the form of each game.
    last_action: moved && !turn && !result ? { role, action: moved.move, tick: moved.tick } : null,
    result: result && resultIn(invite.roles, result),
    ...(clock && { clock: { ...clock, elapsed_ms: Math.round(nowMs - turnStartMs) } }),
  };
}

function resultIn(roles: Readonly<Record<string, string>>, result: GameResult): GameView["result"] {
  const points = Object.fromEntries(
    Object.entries(roles).map(([role, playerId]) => [role, result.match_points[playerId] ?? 0]),
  );
  const winners = winnersOf({ scores: points }) ?? [];
  const { termination, reason } = result;
  return { winners, winner: winners.length === 1 ? (winners[0] ?? null) : null, reason, termination };
}

/**
 * Returns the view after an own move. Only the rules of a game without hidden information and with one actor a turn can be applied to a view; in
 * other games the view of the turn remains.
 */
export function viewAfter(game: Game, view: unknown, role: string, action: unknown): unknown {
  if (game.info.hiddenInformation || game.info.simultaneous) return view;
  try {
    const next = game.applyAction(view, role, action);
    return next.ok ? game.viewState(next.value, role) : view;
  } catch {
    return view; // the view of this game is not a state
  }
}
