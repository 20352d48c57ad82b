import type { Member } from "../shared-run/run-database.ts";
import type { Listener } from "./listener.ts";

/** Records the heartbeat of a manager. Returns the managers with a recent one, by the clock of the database, because those of machines differ. */
export async function recordHeartbeat(listener: Listener, { managerId, url }: Member): Promise<readonly Member[]> {
  const rows = await listener.query(HEARTBEAT, [managerId, url]);
  return rows.map(({ id, url }) => ({ managerId: String(id), url: String(url) }));
}

/** Returns the time of the database, in ms since 1970. */
export async function timeOf(listener: Listener): Promise<number> {
  const [row] = await listener.query("SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms", []);
  return Number(row?.ms);
}

/** Removes a manager. */
export async function recordLeave(listener: Listener, managerId: string): Promise<void> {
  await listener.query("DELETE FROM managers WHERE id = $1", [managerId]);
}

/** Removes managers that have ended without leaving after an hour. Ids are ordered by their bytes. */
const HEARTBEAT = `
  WITH self AS (
    INSERT INTO managers (id, url, seen_at) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET url = excluded.url, seen_at = excluded.seen_at
    RETURNING id, url
  ), former AS (
    DELETE FROM managers WHERE id <> $1 AND seen_at < clock_timestamp() - interval '1 hour'
  )
  SELECT id, url FROM self
  UNION ALL
  SELECT id, url FROM managers WHERE id <> $1 AND seen_at > clock_timestamp() - interval '5 seconds'
  ORDER BY id`;
