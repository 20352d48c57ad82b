import type { Database } from "#shared/store/sqlite.ts";
import type { AgentEvent } from "../../../league-manager/agents/registered-agent.ts";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";

/** An event in the database of a manager, in the order of the commits. */
export interface LogEntry {
  /** `league:ID` or `agent:ID`. */
  readonly stream: string;
  readonly event: LeagueEvent | AgentEvent;
  /** The virtual time at which its commit was observed, in ms. */
  readonly at: number;
}

const ENTRIES = `SELECT log.rowid AS row, name, body FROM log JOIN streams ON number = stream WHERE log.rowid > ?
  ORDER BY log.rowid`;

/** Reads the events of a database as they are committed. */
export class CommittedLog {
  readonly #now: () => number;
  readonly #entries: LogEntry[] = [];
  #last = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Reads the events that were committed since the last call. */
  read(db: Database): readonly LogEntry[] {
    const added = db
      .prepare(ENTRIES)
      .all(this.#last)
      .map(({ row, name, body }): LogEntry => {
        this.#last = Number(row);
        return { stream: String(name), event: JSON.parse(String(body)), at: this.#now() };
      });
    this.#entries.push(...added);
    return added;
  }
}
