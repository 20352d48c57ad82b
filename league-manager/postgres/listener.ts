import type { Pool } from "pg";
import type { Clock } from "#shared/lib/clock.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import { DatabaseUnavailable, type Member, type RunDatabase } from "../shared-run/run-database.ts";
import { type RunTransaction, withRunErrors } from "./run-transaction.ts";

interface NotificationOptions {
  readonly pool: Pool;
  readonly clock: Pick<Clock, "pause">;
  /** A random id of this manager. Notifications with it are ignored. */
  readonly sender: string;
}

interface Notifications extends Pick<RunDatabase, "onCommits" | "signal" | "onSignal"> {
  readonly listener: Listener;
  /** Notifies the other managers of a commit, in its transaction. PostgreSQL sends the notification when the transaction is committed. */
  notifyOfCommit(transaction: RunTransaction): Promise<unknown>;
}

const COMMITS = "league_commits";
const SIGNALS = "league_signals";
const NOTIFY = "SELECT pg_notify($1, $2)";

/** Opens the connection on which a manager receives the notifications of the others. */
export async function openNotifications({ pool, clock, sender }: NotificationOptions): Promise<Notifications> {
  const commitListeners = new Set<() => void>();
  const signalListeners = new Set<(text: string) => void>();
  const onCommits = (): void => {
    for (const listener of [...commitListeners]) listener();
  };
  const listener = await openListener({
    pool,
    clock,
    channels: [COMMITS, SIGNALS],
    onReconnected: onCommits,
    onNotification(channel, payload) {
      // The payload is the id of the sender. The text of a signal follows after a space.
      if (payload.startsWith(sender)) return;
      if (channel === COMMITS) onCommits();
      else for (const listener of [...signalListeners]) listener(payload.slice(sender.length + 1));
    },
  });
  return {
    listener,
    notifyOfCommit: (transaction) => transaction.query(NOTIFY, [COMMITS, sender]),
    onCommits(listener) {
      commitListeners.add(listener);
      return () => void commitListeners.delete(listener);
    },
    async signal(text) {
      await listener.query(NOTIFY, [SIGNALS, `${sender} ${text}`]);
    },
    onSignal(listener) {
      signalListeners.add(listener);
      return () => void signalListeners.delete(listener);
    },
  };
}

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

type Rows = readonly Record<string, unknown>[];

/** A connection that receives the notifications of the other managers. It is opened again whenever it is lost. */
interface Listener {
  /** Executes a statement. Rejects with DatabaseUnavailable, at once if there is no connection. */
  query(text: string, values: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

interface ListenerOptions {
  /** A pool of one connection. Its time limit is short, because a statement without an answer shows that the connection is lost. */
  readonly pool: Pool;
  readonly channels: readonly string[];
  readonly clock: Pick<Clock, "pause">;
  readonly onNotification: (channel: string, payload: string) => void;
  /** Called after each reconnection, because notifications may have been missed. */
  readonly onReconnected: () => void;
}

interface Connection {
  /** Resolves when the connection is lost or ended. */
  readonly lost: Promise<void>;
  query(text: string, values: readonly unknown[]): Promise<Rows>;
  end(): void;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** Opens a connection that listens to channels. Rejects if the first attempt fails. */
async function openListener(options: ListenerOptions): Promise<Listener> {
  const { clock, onReconnected } = options;
  const closing = new AbortController();
  let connection: Connection | null = await connect(options);

  const keepConnected = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      if (connection) {
        await connection.lost;
        connection = null;
        pauseMs = FIRST_PAUSE_MS;
      }
      if (!(await clock.pause(pauseMs, closing.signal))) return;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      connection = await connect(options).catch(() => null);
      if (connection) onReconnected();
    }
  };
  const kept = keepConnected();

  return {
    async query(text, values) {
      if (!connection) throw new DatabaseUnavailable("the connection to the database is lost");
      return connection.query(text, values);
    },
    async close() {
      closing.abort();
      connection?.end();
      await kept;
      connection?.end();
    },
  };
}

async function connect({ pool, channels, onNotification }: ListenerOptions): Promise<Connection> {
  const client = await pool.connect();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    client.release(true);
    resolve();
  };
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ channel, payload = "" }) => onNotification(channel, payload));
  const query: Connection["query"] = async (text, values) => {
    try {
      return (await client.query(text, [...values])).rows;
    } catch (thrown) {
      if (isUnavailable(thrown)) end();
      throw thrown;
    }
  };
  try {
    for (const channel of channels) await query(`LISTEN ${channel}`, []);
  } catch (thrown) {
    end();
    throw thrown;
  }
  return { lost, end, query: (text, values) => withRunErrors(query(text, values)) };
}
