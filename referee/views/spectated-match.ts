import type { RecordedEvent } from "#shared/lib/hash.ts";
import type { Session } from "#shared/session/session.ts";
import { resultOf } from "#shared/session/verdict.ts";
import type { Lobby } from "../sessions/lobby.ts";
import { lastClosedTurn } from "./log-view.ts";
import { spectatorView } from "./session-views.ts";
import { clockField } from "./shown-clock.ts";

/** A match as spectators see it: the events of `GET /api/matches/{league_id}/{match_id}/events`, which the league manager relays. `rows` is its log. */
export function spectatedMatch(session: Session, rows: readonly RecordedEvent[], lobby: Lobby, nowMs: number): object {
  const { status, tick, toAct, shownState, board } = spectatorView(session, lobby.waiting(session) !== null);
  return {
    game_id: session.id,
    template: session.game.id,
    status,
    tick,
    to_act: toAct,
    state: shownState,
    board,
    last_turn: lastClosedTurn(session, rows).map(({ role, action, tick }) => ({ role, action, tick })),
    result: session.status === "completed" ? resultOf(session) : null,
    ...clockField(session, rows, lobby, nowMs),
  };
}
