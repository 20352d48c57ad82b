import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { LaterCommits, RunDatabase } from "../../shared-run/run-database.ts";
import { appendTo, commitOf } from "../../shared-run/testing/commits.ts";

const RETRY_MS = 20;

/** Commits events to one stream, as a manager does with its commands: again after DatabaseUnavailable, and after CommitUnknown unless it was committed. */
export class CountingManager {
  readonly #database: RunDatabase;
  readonly #name: string;
  /** The texts of the commits that the database has confirmed. */
  readonly confirmed: string[] = [];
  /** The errors after which it has tried again, by their names. */
  readonly errors: Record<string, number> = {};
  #version = 0;
  #number = 0;

  readonly #onConfirmed: () => void;

  constructor(database: RunDatabase, name: string, onConfirmed: () => void) {
    this.#database = database;
    this.#name = name;
    this.#onConfirmed = onConfirmed;
  }

  /** Commits the next text. */
  async commit(): Promise<void> {
    const text = `${this.#name} ${this.confirmed.length + 1}`;
    for (;;) {
      const id = systemIds.uuid();
      try {
        await this.#database.transact(this.#number, (later) => {
          this.#follow(later);
          return commitOf({ id, appends: [appendTo("s", this.#version, text)] });
        });
        break;
      } catch (thrown) {
        const name = await this.#afterPause(thrown);
        if (name === "CommitUnknown" && (await this.#wasMade(id))) break;
      }
    }
    this.confirmed.push(text);
    this.#onConfirmed();
  }

  /** The later commits include the own last commit. */
  #follow({ number, events }: LaterCommits): void {
    this.#number = number;
    this.#version = Math.max(this.#version, ...events.map(({ seq }) => seq + 1));
  }

  async #wasMade(id: string): Promise<boolean> {
    for (;;) {
      try {
        return await this.#database.hasCommit(id);
      } catch (thrown) {
        await this.#afterPause(thrown);
      }
    }
  }

  async #afterPause(thrown: unknown): Promise<string> {
    if (!(thrown instanceof Error) || !["DatabaseUnavailable", "CommitUnknown"].includes(thrown.name)) throw thrown;
    this.errors[thrown.name] = (this.errors[thrown.name] ?? 0) + 1;
    await systemClock.pause(RETRY_MS);
    return thrown.name;
  }
}
