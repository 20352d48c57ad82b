import type { Clock } from "#shared/lib/clock.ts";
import type { MatchQueue } from "../../match-queue.ts";
import type { ManagerStore } from "../../store/manager-store.ts";
import {
  CommitUnknown,
  DatabaseUnavailable,
  type LaterCommits,
  type NewCommit,
  type RunDatabase,
} from "../run-database.ts";
import { Call, ModelConnection, type ModelLink } from "./model-connection.ts";
import { modelQueue, type QueueTransaction } from "./model-queue.ts";
import type { ModelServer, ModelTransaction } from "./model-server.ts";

/** A transaction without an answer is given up after this time. */
const TRANSACTION_TIMEOUT_MS = 7_000;
/** A commit that is made late is made after this time. */
const LATE_COMMIT_MS = 300;

/** The model of the database as one manager uses it. */
export interface ModelDatabase extends RunDatabase, ManagerStore {
  readonly queue: MatchQueue<QueueTransaction>;
  /** Loses all connections of the manager. */
  break(): void;
  /** Ends the connections, as the end of the process does. */
  end(): void;
}

/** Connects a manager to the model of the database server. `clock` is that of the manager. */
export function modelDatabase(
  server: ModelServer,
  link: ModelLink,
  clock: Pick<Clock, "after" | "every">,
): ModelDatabase {
  const connection = new ModelConnection(server, link, clock);
  const { store } = server;
  const reading =
    <Args extends unknown[], T>(read: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      connection.request(() => read(...args));
  return {
    commitsAfter: (after) => connection.request(() => server.commitsAfter(after)),
    transact: (after, decide) => transact(connection, after, decide),
    hasCommit: (id) => hasCommit(connection, id),
    onCommits: (listener) => added(connection.commitListeners, listener),
    heartbeat: (self) => connection.request(() => server.heartbeat(self)),
    time: () => connection.request(() => server.time.now()),
    leave: (managerId) => connection.request(() => server.leave(managerId)),
    signal: (text) => connection.request(() => server.signal(text, connection)),
    onSignal: (listener) => added(connection.signalListeners, listener),
    readEvents: reading(store.readEvents),
    streams: reading(store.streams),
    loadProfiles: reading(store.loadProfiles),
    sessionLogOf: reading(store.sessionLogOf),
    answerTimesOf: reading(store.answerTimesOf),
    readSnapshot: reading(store.readSnapshot),
    writeSnapshot: reading(store.writeSnapshot),
    getMeta: reading(store.getMeta),
    initMeta: reading(store.initMeta),
    async close() {
      connection.close();
    },
    queue: modelQueue(server, connection, clock),
    break: () => connection.break(),
    end: () => connection.close(),
  };
}

function added<T>(set: Set<T>, listener: T): () => void {
  set.add(listener);
  return () => void set.delete(listener);
}

/** Begins a transaction. `onLock` is called at the server when the transaction has the lock of the run. */
function begin(connection: ModelConnection, onLost: () => void, onLock: () => void): [Call, ModelTransaction] {
  const { server } = connection;
  const transaction: ModelTransaction = {
    client: connection,
    isOpen: true,
    isCommitting: false,
    cancelTimer: () => {},
    onLock,
  };
  const call: Call = new Call(
    connection,
    () => {
      // The server notices that the client has closed the connection, after everything that the client has sent before.
      call.send(() => transaction.isCommitting || server.release(transaction));
      onLost();
    },
    TRANSACTION_TIMEOUT_MS,
  );
  call.send(() => {
    if (call.isOpen) server.lock(transaction);
  });
  return [call, transaction];
}

const unavailable = (): DatabaseUnavailable => new DatabaseUnavailable("the database does not answer");

function hasCommit(connection: ModelConnection, id: string): Promise<boolean> {
  const { server } = connection;
  return new Promise((resolve, reject) => {
    const [call, transaction] = begin(
      connection,
      () => reject(unavailable()),
      () => {
        const found = server.hasCommit(id);
        server.release(transaction);
        call.answer(() => {
          call.close();
          resolve(found);
        });
      },
    );
  });
}

function transact(
  connection: ModelConnection,
  after: number,
  decide: (later: LaterCommits) => NewCommit | null,
): Promise<void> {
  const { server } = connection;
  return new Promise((resolve, reject) => {
    let isSent = false;
    const settle = (run: () => void): void =>
      call.answer(() => {
        call.close();
        run();
      });
    const onLost = (): void =>
      reject(isSent ? new CommitUnknown("the connection was lost during COMMIT") : unavailable());
    const [call, transaction] = begin(connection, onLost, () => {
      const later = server.commitsAfter(after);
      call.answer(() => {
        let commit: NewCommit | null = null;
        try {
          commit = decide(later);
        } catch (thrown) {
          call.close();
          call.send(() => server.release(transaction));
          reject(thrown);
          return;
        }
        isSent = true;
        call.send(() => void commitAt(connection, transaction, commit, settle, resolve, reject));
      });
    });
  });
}

/** Commits at the server. */
async function commitAt(
  connection: ModelConnection,
  transaction: ModelTransaction,
  commit: NewCommit | null,
  settle: (run: () => void) => void,
  resolve: () => void,
  reject: (reason: unknown) => void,
): Promise<void> {
  const { server, link } = connection;
  // The server has ended the transaction, because the manager was stopped or the network was cut.
  if (!transaction.isOpen) return connection.break();
  const fate = commit ? link.commitFate() : "made";
  const make = async (): Promise<void> => {
    if (!transaction.isOpen) return;
    try {
      if (commit) await server.commit(commit, connection);
    } finally {
      server.release(transaction);
    }
  };
  transaction.cancelTimer();
  if (fate === "rolled back") {
    server.release(transaction);
    settle(() => reject(new DatabaseUnavailable("the transaction was rolled back because of another one")));
  } else if (fate === "lost before") connection.break();
  else if (fate === "lost after") {
    await make();
    connection.break();
  } else if (fate === "lost and made late") {
    transaction.isCommitting = true;
    server.time.after(LATE_COMMIT_MS, () => void make());
    connection.break();
  } else {
    await make().then(
      () => settle(resolve),
      (thrown) => settle(() => reject(thrown)),
    );
  }
}
