import type { Pool } from "pg";
import type { Clock } from "#shared/lib/clock.ts";
import type { RunDatabase } from "../shared-run/run-database.ts";
import { type Listener, openListener } from "./listener.ts";
import type { RunTransaction } from "./run-transaction.ts";

interface NotificationOptions {
  readonly pool: Pool;
  readonly clock: Pick<Clock, "pause">;
  /** A random id of this manager. Notifications with it are ignored. */
  readonly sender: string;
}

interface Notifications extends Pick<RunDatabase, "onNews" | "signal" | "onSignal"> {
  readonly listener: Listener;
  /** Notifies the other managers of a commit in its transaction. PostgreSQL sends it when the transaction is committed. */
  notifyOfCommit(transaction: RunTransaction): Promise<unknown>;
}

const COMMITS = "league_commits";
const SIGNALS = "league_signals";
const NOTIFY = "SELECT pg_notify($1, $2)";

/** Opens the connection on which a manager receives the notifications of the others. */
export async function openNotifications({ pool, clock, sender }: NotificationOptions): Promise<Notifications> {
  const newsListeners = new Set<() => void>();
  const signalListeners = new Set<(text: string) => void>();
  const tellNews = (): void => {
    for (const tell of [...newsListeners]) tell();
  };
  const listener = await openListener({
    ...{ pool, clock, channels: [COMMITS, SIGNALS], onReconnected: tellNews },
    onNotification(channel, payload) {
      // The payload is the id of the sender, and after a blank the text of a signal.
      if (payload.startsWith(sender)) return;
      if (channel === COMMITS) tellNews();
      else for (const tell of [...signalListeners]) tell(payload.slice(sender.length + 1));
    },
  });
  return {
    listener,
    notifyOfCommit: (transaction) => transaction.query(NOTIFY, [COMMITS, sender]),
    onNews(tell) {
      newsListeners.add(tell);
      return () => void newsListeners.delete(tell);
    },
    async signal(text) {
      await listener.query(NOTIFY, [SIGNALS, `${sender} ${text}`]);
    },
    onSignal(tell) {
      signalListeners.add(tell);
      return () => void signalListeners.delete(tell);
    },
  };
}
