/** Asynchronous tasks by key. A key has at most one task at a time, so a task that is started again while it runs is not repeated. */
export class Tasks {
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();

  /** Aborted when the tasks are stopped. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Starts `run` unless the key has a task. `run` must not reject. */
  start(key: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#stopped.signal.aborted || this.#running.has(key)) return;
    const task = run(this.#stopped.signal).finally(() => this.#running.delete(key));
    this.#running.set(key, task);
  }

  /** Aborts the signal; resolves when no task runs any more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }
}
