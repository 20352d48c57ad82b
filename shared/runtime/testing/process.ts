import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { httpNetwork } from "../../rpc/network.ts";
import type { AgentProcess } from "../agent.ts";
import { systemDisk } from "../files/disk.ts";
import { openLog } from "../process/logger.ts";

/** The process of an agent that a test runs: without output, with the clock, the randomness, the network and the disk of this machine. */
export const silentProcess = (name: string, own: Partial<AgentProcess> = {}): AgentProcess => ({
  log: openLog(null, name),
  say: () => {},
  warn: () => {},
  report: () => {},
  clock: systemClock,
  ids: systemIds,
  network: httpNetwork(systemClock),
  disk: systemDisk(own.clock ?? systemClock),
  ...own,
});
