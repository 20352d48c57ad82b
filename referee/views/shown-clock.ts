import type { RecordedEvent } from "#shared/lib/hash.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import type { ShownClock } from "#shared/web/game-view.ts";
import type { Lobby } from "../sessions/lobby.ts";
import { lastClosedAction } from "./log-view.ts";

/**
 * Returns the clocks at the start of the open turn, with the time since then; nothing in a session without clocks. A turn begins when the turn before it is
 * closed. The first turn begins when all players have accepted their invitations, and an open turn begins anew when the referee is restarted.
 */
export function clockField(
  session: Session,
  rows: readonly RecordedEvent[],
  lobby: Lobby,
  nowMs: number,
): { readonly clock?: ShownClock } {
  if (!session.turnClocks) return {};
  if (session.status === "completed") return { clock: session.turnClocks };
  const [first] = rows;
  const last = lastClosedAction(session, rows) ?? (first && parseEntry(first.body));
  const startMs = Math.max(last ? Date.parse(last.at) : 0, lobby.begunAt(session));
  return { clock: { ...session.turnClocks, elapsed_ms: Math.max(0, nowMs - startMs) } };
}
