import { type Clock, isoAt, systemClock } from "#shared/lib/clock.ts";
import type { ActionLog } from "#shared/store/action-log.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { SESSION_SCHEMA, sqliteLog } from "#shared/store/sqlite-log.ts";
import { createHost, type SessionHost } from "./host.ts";

export interface HostInMemory {
  readonly clock: Clock;
  readonly db: ReturnType<typeof openSqlite>;
  readonly log: ActionLog;
  readonly host: SessionHost;
}

/** A session host on a database in memory, whose clock shows what `now` returns. */
export function hostInMemory(now: () => number): HostInMemory {
  const clock = { ...systemClock, now, monotonic: now, iso: () => isoAt(now()) };
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const log = sqliteLog(db);
  return { clock, db, log, host: createHost(log, clock) };
}
