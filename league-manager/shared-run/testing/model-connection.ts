import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { DatabaseUnavailable } from "../run-database.ts";
import type { ModelServer, ServerSide } from "./model-server.ts";

/** What the database does with a commit. `lost`: the connection is lost before or after the commit, or long before it is made. */
export type CommitFate = "made" | "rolled back" | "lost before" | "lost after" | "lost and made late";

/** The network between a manager and the server. */
export interface ModelLink {
  /** The time that the next message takes. */
  latencyMs(): number;
  /** Whether connections are refused. */
  isRefused(): boolean;
  /** Messages arrive after this time of the server; a time in the past if the network works. */
  silentUntil(): number;
  commitFate(): CommitFate;
}

/** A request to the server. */
export class Call {
  readonly #connection: ModelConnection;
  readonly #onLost: () => void;
  readonly #cancelTimeout: Cancel;
  isOpen = true;

  /** `onLost` is called if the connection is lost, or after `timeoutMs`. */
  constructor(connection: ModelConnection, onLost: () => void, timeoutMs: number) {
    this.#connection = connection;
    this.#onLost = onLost;
    connection.calls.add(this);
    this.#cancelTimeout = connection.clock.after(timeoutMs, () => {
      this.close();
      onLost();
    });
  }

  /** Sends a message to the server, where `run` is called. The call is lost if there is no connection. */
  send(run: () => void): void {
    const { server, link } = this.#connection;
    server.time.after(this.#connection.delayMs(), () => {
      if (!server.isUp || link.isRefused()) this.lose();
      else run();
    });
  }

  /** Sends an answer to the manager, where `run` is called unless the connection is lost before. */
  answer(run: () => void): void {
    this.#connection.deliver(() => {
      if (this.isOpen) run();
    });
  }

  /** Lets the manager know that the connection is lost. */
  lose(): void {
    this.answer(() => {
      this.close();
      this.#onLost();
    });
  }

  close(): void {
    this.isOpen = false;
    this.#cancelTimeout();
    this.#connection.calls.delete(this);
  }
}

/** The time after which a manager connects again for notifications. */
const RECONNECT_MS = 100;
/** A request without an answer is given up after this time. */
const REQUEST_TIMEOUT_MS = 3_000;

/** The connections of one manager to the model of the database server. Everything that arrives at the manager is called by its clock. */
export class ModelConnection implements ServerSide {
  readonly server: ModelServer;
  readonly link: ModelLink;
  readonly clock: Pick<Clock, "after">;
  readonly calls = new Set<Call>();
  readonly commitListeners = new Set<() => void>();
  readonly signalListeners = new Set<(text: string) => void>();
  readonly #deliveries = new Set<Cancel>();
  #isListening = true;
  #isClosed = false;

  constructor(server: ModelServer, link: ModelLink, clock: Pick<Clock, "after">) {
    this.server = server;
    this.link = link;
    this.clock = clock;
    server.clients.add(this);
  }

  /** Executes `run` at the server. Rejects with DatabaseUnavailable. */
  request<T>(run: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onLost = (): void => reject(new DatabaseUnavailable("the database does not answer"));
      const call = new Call(this, onLost, REQUEST_TIMEOUT_MS);
      const settle = (run: () => void): void =>
        call.answer(() => {
          call.close();
          run();
        });
      call.send(() => {
        Promise.resolve()
          .then(run)
          .then(
            (value) => settle(() => resolve(value)),
            (thrown) => settle(() => reject(thrown)),
          );
      });
    });
  }

  /** Loses all connections: the server ends the transaction, and the manager connects again as soon as it can. */
  break(): void {
    if (this.#isClosed) return;
    this.server.abortOf(this);
    for (const call of [...this.calls]) call.lose();
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#reconnect();
  }

  /** Ends the connections, as the end of the process does. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.calls) call.close();
    for (const cancel of this.#deliveries) cancel();
    this.server.clients.delete(this);
    this.server.abortOf(this);
  }

  onAborted(): void {
    this.break();
  }

  onCommits(): void {
    this.notify(() => {
      for (const listener of [...this.commitListeners]) listener();
    });
  }

  onSignal(text: string): void {
    this.notify(() => {
      for (const listener of [...this.signalListeners]) listener(text);
    });
  }

  /** Calls `run` at the manager, unless the manager does not listen. */
  notify(run: () => void): void {
    if (!this.#isListening || this.#isClosed) return;
    this.deliver(run);
  }

  /** Calls `run` at the manager after the time that a message takes now. */
  deliver(run: () => void): void {
    if (this.#isClosed) return;
    const cancel = this.clock.after(this.delayMs(), () => {
      this.#deliveries.delete(cancel);
      run();
    });
    this.#deliveries.add(cancel);
  }

  /** The time that a message takes now. */
  delayMs(): number {
    return Math.max(this.link.latencyMs(), this.link.silentUntil() - this.server.time.monotonic());
  }

  #reconnect(): void {
    this.server.time.after(RECONNECT_MS, () => {
      if (this.#isClosed) return;
      if (!this.server.isUp || this.link.isRefused()) return this.#reconnect();
      this.#isListening = true;
      // Notifications may have been missed.
      this.onCommits();
    });
  }
}
