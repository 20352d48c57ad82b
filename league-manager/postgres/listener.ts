import type { Pool } from "pg";
import type { Clock } from "#shared/lib/clock.ts";
import { isUnavailable } from "#shared/store/postgres/faults.ts";
import { DatabaseUnavailable } from "../shared-run/run-database.ts";
import { withRunErrors } from "./run-errors.ts";

type Rows = readonly Record<string, unknown>[];

/** A connection that receives the notifications of the other managers. It is opened again whenever it is lost. */
export interface Listener {
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
export async function openListener(options: ListenerOptions): Promise<Listener> {
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
