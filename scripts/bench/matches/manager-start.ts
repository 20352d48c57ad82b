import { rmSync } from "node:fs";
import { join } from "node:path";
import { launch, ROOT, temporaryFolder } from "../process.ts";
import { writeSyntheticRun } from "../synthetic-run.ts";

/** The duration of a manager's start, from the start of the process until it is ready, with the recorded matches of one league in its store. */
export interface ManagerStart {
  readonly matches: number;
  /** The median duration with a snapshot of the league, which a manager writes when it stops. */
  readonly ms: number;
}

const STARTS = 3;

/** Measures the start with a league of this number of players whose last round is not played. */
export async function managerStart(players: number): Promise<ManagerStart> {
  const folder = temporaryFolder();
  const matches = await writeSyntheticRun(folder, players, 1);
  const times: number[] = [];
  // The first start is not measured, because it compiles the code and writes the compile cache.
  for (let start = 0; start <= STARTS; start++) {
    const startedAt = performance.now();
    const manager = await launch(
      "league-manager/main.ts",
      ["--config", join(folder, "config.json"), "--data", folder, "--port", "0"],
      { nodeArgs: ["--require", join(ROOT, "shared/runtime/compile-cache.cjs")] },
    );
    if (start > 0) times.push(performance.now() - startedAt);
    await manager.stop();
  }
  rmSync(folder, { recursive: true });
  return { matches, ms: times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0 };
}
