import type { Viewer } from "#shared/games/game.ts";
import { moveText } from "#shared/games/move-text.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import type { HistoryDocument, HistoryMove } from "#shared/web/play-documents.ts";
import type { SessionHost } from "../../sessions/host.ts";
import type { StoredSession } from "../../sessions/live-sessions.ts";
import { actionsFor } from "../../views/log-view.ts";
import { viewFor } from "../../views/session-views.ts";

/** The maximum number of moves with their positions, which are the newest ones. */
const MAX_POSITIONS = 600;

/** The moves of a session that a viewer may know, oldest first, with the positions as the viewer has seen them, without the first `from` moves. */
export function historyOf(
  host: SessionHost,
  { session, rows }: StoredSession,
  viewer: Viewer,
  from: number,
): HistoryDocument {
  const known = new Set(
    actionsFor(session, rows, viewer)
      .map(({ tick }) => tick)
      .slice(from),
  );
  const steps = host.since(session.id, -1);
  const moves: Required<HistoryMove>[] = [];
  let before: Session | null = null;
  for (const { seq, session: step } of steps) {
    const row = rows[seq];
    const entry = row && parseEntry(row.body);
    if (before && entry?.type === "acted" && known.has(entry.tick)) {
      const { shownState: state, board } = viewFor(step, viewer);
      const text = moveText(step.game, before.state, entry.action);
      moves.push({ tick: entry.tick, role: entry.role, action: entry.action, text, after: { state, board } });
    }
    before = step;
  }
  const firstPosition = moves.length - MAX_POSITIONS;
  const [first] = steps;
  const { shownState: state, board } = viewFor(first?.session ?? session, viewer);
  const start = { state, board };
  return {
    ...{ start, from },
    moves: moves.map(({ after, ...move }, index) => (index < firstPosition ? move : { ...move, after })),
  };
}
