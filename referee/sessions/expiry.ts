import { parseEntry } from "#shared/session/entry.ts";
import { find, type LiveSessions, run, SNAPSHOT_EVERY_MS } from "./live-sessions.ts";
import { GameNotLoaded } from "./rejections.ts";

type Expire = (idleMs: number, onFailure?: (sessionId: string, thrown: unknown) => void) => Promise<void>;

/** Returns a function that expires sessions whose seats have been idle for `idleMs`. `onFailure` is called once for each session that cannot be expired. */
export function expiry(sessions: LiveSessions): Expire {
  const { store, clock, live } = sessions;
  /** Sessions that could not be expired, for example because their log cannot be replayed. */
  const failing = new Set<string>();
  return async (idleMs, onFailure) => {
    // The times in the log are compared, because a session may have been idle since before this process started.
    const latest = clock.now() - idleMs;
    for (const sessionId of store.quietSince(latest + SNAPSHOT_EVERY_MS)) {
      try {
        const loaded = live.get(sessionId);
        if (loaded && loaded.pending.session !== loaded.session) continue; // an entry is being written
        // `find` is not used here, because it would load the session and count as a use.
        const head = (loaded?.rows ?? store.log.read(sessionId)).at(-1);
        if (head && Date.parse(parseEntry(head.body).at) <= latest) {
          await run(sessions, find(sessions, sessionId), { type: "expire" });
        }
      } catch (thrown) {
        // The session can be continued when this process is started with its game.
        if (thrown instanceof GameNotLoaded) continue;
        if (!failing.has(sessionId)) onFailure?.(sessionId, thrown);
        failing.add(sessionId);
      }
    }
  };
}
