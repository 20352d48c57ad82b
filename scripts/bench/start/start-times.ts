import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { runCommand, temporaryFolder } from "../process.ts";
import { type LoadedModules, loadedModules } from "./loaded-modules.ts";

/** The durations of `npm start`, and what its processes load. */
export interface Starts {
  /** Without compiled code. */
  readonly firstMs: number;
  /** With compiled code. */
  readonly followingMs: readonly number[];
  /** The sum of the peak memory of all processes in megabytes. */
  readonly peakMb: number;
  readonly processes: number;
  readonly loaded: readonly LoadedModules[];
}

/** Measures `npm start`: first without compiled code and with the memory, then with compiled code `followingStarts` times. */
export async function startTimes(followingStarts: number): Promise<Starts> {
  const data = temporaryFolder();
  const environment = async (): Promise<NodeJS.ProcessEnv> => {
    const [manager, referee, , player] = await freePorts(7);
    return {
      ...process.env,
      NODE_COMPILE_CACHE: join(data, "compiled"),
      LEAGUE__DATA: data,
      LEAGUE__MANAGER__PORT: String(manager),
      LEAGUE__REFEREES__FIRSTPORT: String(referee),
      LEAGUE__PLAYERSFIRSTPORT: String(player),
    };
  };
  const startOnce = async (isWatched: boolean) =>
    runCommand("npm", ["start", "--", "--quiet", "--seed", "7"], await environment(), isWatched);
  try {
    const { ms: firstMs, peakMb, processes } = await startOnce(true);
    const followingMs: number[] = [];
    for (let turn = 0; turn < followingStarts; turn++) followingMs.push((await startOnce(false)).ms);
    const loaded = await loadedModules(data, await environment());
    return { firstMs, followingMs, peakMb, processes, loaded };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}
