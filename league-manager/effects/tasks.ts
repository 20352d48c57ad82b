/** Runs asynchronous tasks, at most one for each key at the same time. */
export class Tasks {
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();

  /** Aborted when the tasks are stopped. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Starts `run`, unless a task of this key is running or the tasks are stopped. The promise of `run` must not reject. */
  start(key: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#stopped.signal.aborted || this.#running.has(key)) return;
    const task = run(this.#stopped.signal).finally(() => this.#running.delete(key));
    this.#running.set(key, task);
  }

  /** Aborts the signal. Resolves when all tasks have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running.values());
  }
}
