import type { Viewer } from "#shared/games/game.ts";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import { type Entry, parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";

type Acted = Extract<Entry, { type: "acted" }>;

/**
 * The actions of a log that a viewer may know, oldest first. While a simultaneous turn is open, each role sees only its own sealed
 * action and spectators see none. This does not change if the session ends before the turn is closed.
 */
export function actionsFor(session: Session, rows: readonly RecordedEvent[], viewer: Viewer): readonly Acted[] {
  return rows.flatMap((row) => {
    const entry = parseEntry(row.body);
    return entry.type === "acted" && (!isSealed(session, entry) || entry.role === viewer) ? [entry] : [];
  });
}

/** The last entries of a log up to a sequence number: those of two turns, and the session's end. `lastClosedAction` and `lastClosedTurn` need no more. */
export const recentEntries = (
  { game }: Session,
  rows: readonly RecordedEvent[],
  seq: number,
): readonly RecordedEvent[] => rows.slice(Math.max(0, seq - 2 * game.roles.length - 1), seq + 1);

/** The last action of a turn that is closed; null if there is none. */
export function lastClosedAction(session: Session, rows: readonly RecordedEvent[]): Acted | null {
  // After it there are at most the actions of the open turn, one for each role, and the session's end.
  const [last = null] = actionsFor(session, rows.slice(-session.game.roles.length - 2), "spectator").slice(-1);
  return last;
}

/** The actions of the last turn that is closed; empty if there is none. In a simultaneous turn each role acts once. */
export function lastClosedTurn(session: Session, rows: readonly RecordedEvent[]): readonly Acted[] {
  const { game } = session;
  const turns = game.info.simultaneous ? 2 : 1; // the open turn and the one before it
  const known = actionsFor(session, rows.slice(-turns * game.roles.length - 1), "spectator");
  if (!game.info.simultaneous) return known.slice(-1);
  const roles = new Set<string>();
  const first = known.findLastIndex(({ role }) => roles.size === roles.add(role).size);
  return known.slice(first + 1);
}

/** Whether an action belongs to a simultaneous turn that is open. In a sequential game the turn of an action closes with it. */
const isSealed = ({ game, turnTick }: Session, { tick }: Acted): boolean => game.info.simultaneous && tick >= turnTick;
