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
    ...{ pool, clock, channels: [COMMITS, SIGNALS], onReconnected: onCommits },
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
