import { type Clock, systemClock } from "#shared/lib/clock.ts";
import type { CommitFate, ModelLink } from "./model-connection.ts";
import { type ModelDatabase, modelDatabase } from "./model-database.ts";
import { ModelServer } from "./model-server.ts";
import type { TestedRun } from "./tested-run.ts";

/** A run in a model of the database server, with real time. */
export interface ModelRun extends TestedRun {
  readonly server: ModelServer;
  connect(): Promise<ModelDatabase>;
  /** The fates of the next commits. Later ones are made. */
  readonly fates: CommitFate[];
  /** Lets no message arrive for a time. */
  silence(ms: number): void;
}

/** Opens a new run. `clock` is that of the server and of the managers. */
export function modelRun(clock: Pick<Clock, "now" | "monotonic" | "after" | "every"> = systemClock): ModelRun {
  let passedMs = 0;
  const time = { ...clock, monotonic: () => clock.monotonic() + passedMs };
  const server = new ModelServer(time);
  const fates: CommitFate[] = [];
  let silentUntil = 0;
  const link: ModelLink = {
    latencyMs: () => 1,
    isRefused: () => false,
    silentUntil: () => silentUntil,
    commitFate: () => fates.shift() ?? "made",
  };
  const databases: ModelDatabase[] = [];
  return {
    server,
    fates,
    async connect() {
      const database = modelDatabase(server, link, clock);
      databases.push(database);
      return database;
    },
    async jobs() {
      return {
        added: server.jobChanges.flatMap(({ added }) => added),
        ended: server.jobChanges.flatMap(({ ended }) => ended),
      };
    },
    cut: async () => server.stop(),
    restore: async () => server.start(),
    loseNextCommit: (moment) => void fates.push(`lost ${moment}`),
    async passTime(ms) {
      passedMs += ms;
    },
    silence(ms) {
      silentUntil = time.monotonic() + ms;
    },
    async close() {
      for (const database of databases) database.end();
      server.db.close();
    },
  };
}
