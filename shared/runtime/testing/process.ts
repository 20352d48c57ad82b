import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { httpNetwork } from "../../rpc/network.ts";
import type { AgentProcess } from "../agent.ts";
import { systemDisk } from "../files/disk.ts";
import { openLog } from "../process/logger.ts";

/**
 * Returns the process of an agent under test: without output, with the clock, the random numbers, the network and the
 * disk of this machine. `overrides` replaces parts of it.
 */
export const silentProcess = (name: string, overrides: Partial<AgentProcess> = {}): AgentProcess => ({
  log: openLog(null, name),
  say: () => {},
  warn: () => {},
  report: () => {},
  clock: systemClock,
  ids: systemIds,
  network: httpNetwork(systemClock),
  disk: systemDisk(overrides.clock ?? systemClock),
  ...overrides,
});
