import { z } from "zod";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { StartWhen } from "./config.ts";
import type { LiveEvent } from "./projections/live.ts";
import type { MatchQueue } from "./queue/match-queue.ts";
import type { RunDatabase } from "./shared-run/run-database.ts";
import type { ManagerStore } from "./store/manager-store.ts";

/** The database that the managers of a run share, as one of them uses it. */
interface SharedDatabase {
  /** `close` closes its connections. */
  readonly run: ManagerStore & RunDatabase;
  /** The queue whose jobs the run changes in its transactions. */
  readonly queue: MatchQueue<never>;
}

export type OpenDatabase = (self: Pick<AgentProcess, "clock" | "ids" | "log" | "warn">) => Promise<SharedDatabase>;

/** The options of the league manager's start. */
export const ManagerOptions = z.object({
  /** A parsed config, with its defaults. */
  config: z.custom<Config>((config) => typeof config === "object"),
  /** The address to listen on; absent for the config's. */
  host: z.string().optional(),
  /** The port to listen on; 0 for a free port; absent for the config's. */
  port: z.int().optional(),
  dataFolder: z.string(),
  /** The seed of the run; null for a random one. A run that is continued keeps its first seed. */
  seed: z.string().nullable().default(null),
  /** Opens the database of a run with several managers; absent for a run in a file of the data folder. Rejects with StartError. */
  database: z.custom<OpenDatabase>((open) => typeof open === "function").optional(),
  /** The origin at which the other managers of the run reach this one; absent for the address on which it listens. */
  url: z.string().optional(),
  startWhen: z.enum(["roster", "count"] satisfies StartWhen[]).default("count"),
  onEvent: z.custom<(event: LiveEvent) => void>((listener) => typeof listener === "function").default(() => () => {}),
});
export type ManagerOptions = z.output<typeof ManagerOptions>;
