import type { TimeControl } from "#shared/lib/time-control.ts";
import type { Config } from "#shared/runtime/config/config.ts";

/** Returns a config with these clocks in all leagues; the config itself without them. */
export const withClock = <T extends Pick<Config, "leagues">>(config: T, clock: TimeControl | undefined): T =>
  clock === undefined ? config : { ...config, leagues: config.leagues.map((league) => ({ ...league, clock })) };
