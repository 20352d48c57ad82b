import { z } from "zod";
import type { Config } from "#shared/runtime/config/config.ts";
import type { StartWhen } from "./config.ts";
import type { LiveEvent } from "./projections/live.ts";

/** How the league manager is started. */
export const ManagerOptions = z.object({
  /** A parsed config, with its own defaults. */
  config: z.custom<Config>((config) => typeof config === "object"),
  /** The address to listen on; absent for the config's. */
  host: z.string().optional(),
  /** The port to listen on, 0 for one that the system chooses; absent for the config's. */
  port: z.int().optional(),
  dataFolder: z.string(),
  /** The run's seed; null for a random one. A run that goes on keeps the one it began with. */
  seed: z.string().nullable().default(null),
  startWhen: z.enum(["roster", "count"] satisfies StartWhen[]).default("count"),
  onEvent: z.custom<(event: LiveEvent) => void>((listener) => typeof listener === "function").default(() => () => {}),
});
export type ManagerOptions = z.output<typeof ManagerOptions>;
