import { rmSync } from "node:fs";
import { join } from "node:path";
import { launch, ROOT, temporaryFolder } from "../process.ts";
import { writeSyntheticRun } from "../run.ts";

/** How long a manager takes from the start of its process until it is ready, with the recorded matches of one league in its store. */
export interface ManagerStart {
  readonly matches: number;
  /** With a snapshot of the league, as a manager leaves it that was stopped. */
  readonly ms: number;
}

const STARTS = 3;

/** The median start on a league of so many players whose last round is to be played. */
export async function managerStart(players: number): Promise<ManagerStart> {
  const folder = temporaryFolder();
  const matches = await writeSyntheticRun(folder, players, 1);
  const times: number[] = [];
  // The first start writes the compiled code.
  for (let start = 0; start <= STARTS; start++) {
    const begun = performance.now();
    const manager = await launch(
      "league-manager/main.ts",
      ["--config", join(folder, "config.json"), "--data", folder, "--port", "0"],
      { nodeArgs: ["--require", join(ROOT, "shared/runtime/compile-cache.cjs")] },
    );
    if (start > 0) times.push(performance.now() - begun);
    await manager.stop();
  }
  rmSync(folder, { recursive: true });
  return { matches, ms: times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0 };
}
