import { z } from "zod";
import type { Config } from "#shared/runtime/config/config.ts";
import type { StartWhen } from "./config.ts";
import type { LiveEvent } from "./projections/live.ts";

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
  startWhen: z.enum(["roster", "count"] satisfies StartWhen[]).default("count"),
  onEvent: z.custom<(event: LiveEvent) => void>((listener) => typeof listener === "function").default(() => () => {}),
});
export type ManagerOptions = z.output<typeof ManagerOptions>;
