import { type Clock, isoAt, systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, type SessionHost } from "../host.ts";
import { SESSION_SCHEMA, type SessionStore, sessionStore } from "../session-store.ts";

interface InMemoryHost {
  readonly clock: Clock;
  readonly db: ReturnType<typeof openSqlite>;
  readonly store: SessionStore;
  readonly host: SessionHost;
}

/** Creates a session host with an in-memory database and a clock that returns `now()`. */
export function inMemoryHost(now: () => number): InMemoryHost {
  const clock = { ...systemClock, now, monotonic: now, iso: () => isoAt(now()) };
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const store = sessionStore(db, testWriter(db));
  return { clock, db, store, host: createHost(store, clock, systemIds) };
}
