import { parseEntry } from "#shared/session/entry.ts";
import { find, type LiveSessions, run, SNAPSHOT_EVERY_MS } from "./live-sessions.ts";

type Expire = (idleMs: number, onFailure?: (sessionId: string, thrown: unknown) => void) => Promise<void>;

/** A function that ends sessions whose seats have been idle for so long. */
export function expiry(sessions: LiveSessions): Expire {
  const { store, clock, live } = sessions;
  /** Sessions that could not be expired, such as those of a game that this version lacks. */
  const failing = new Set<string>();
  return async (idleMs, onFailure) => {
    // The dates in the log count: a session may have been idle since before this process started.
    const latest = clock.now() - idleMs;
    for (const sessionId of store.quietSince(latest + SNAPSHOT_EVERY_MS)) {
      try {
        const known = live.get(sessionId);
        if (known && known.pending.session !== known.session) continue; // an entry is being written
        // Not by `find`, which would load the session and count as a use.
        const head = (known?.rows ?? store.log.read(sessionId)).at(-1);
        if (head && Date.parse(parseEntry(head.body).at) <= latest) {
          await run(sessions, find(sessions, sessionId), { type: "expire" });
        }
      } catch (thrown) {
        if (!failing.has(sessionId)) onFailure?.(sessionId, thrown);
        failing.add(sessionId);
      }
    }
  };
}
