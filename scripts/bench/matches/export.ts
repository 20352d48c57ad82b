import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportOf } from "../../archive/export-store.ts";
import { writeExport } from "../../archive/format.ts";
import { findStore } from "../../archive/stored-run.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { launch, type Rate, temporaryFolder } from "../process.ts";
import { writeSyntheticRun } from "../synthetic-run.ts";

/** The rates of exporting a run, replacing the export and verifying it. Each step runs in a separate process. */
export interface ExportCost {
  readonly players: number;
  readonly matches: number;
  readonly export: Rate;
  readonly replace: Rate;
  readonly verify: Rate;
}

/** The measurement of one step. */
interface Step {
  readonly ms: number;
  /** Microseconds of processor time. */
  readonly cpu: NodeJS.CpuUsage;
  readonly matches: number;
}

const SCRIPT = "scripts/bench/matches/export.ts";

/** Measures export, replacement and verification of a synthetic round robin of this number of players. */
export async function exportCost(players: number): Promise<ExportCost> {
  const folder = temporaryFolder();
  const matches = await writeSyntheticRun(folder, players);
  const out = join(folder, "export");
  const rate = async (step: string): Promise<Rate> => {
    const child = await launch(SCRIPT, [folder, out]);
    const { ms, cpu, matches } = await child.ask<Step>(step);
    await child.stop();
    const cpuPerMatch = { user: cpu.user / matches, system: cpu.system / matches };
    return {
      perSecond: (matches / ms) * 1_000,
      cpu: cpuPerMatch,
      cpuTotal: cpuPerMatch.user + cpuPerMatch.system,
      others: 0,
    };
  };
  const cost = { export: await rate("export"), replace: await rate("export"), verify: await rate("verify") };
  rmSync(folder, { recursive: true });
  return { players, matches, ...cost };
}

/** Runs one step. Returns the number of matches. */
async function runStep(step: string, folder: string, out: string): Promise<number> {
  if (step === "verify") return verifyExport(out).matches;
  const { files, matches } = await exportOf(findStore(folder));
  writeExport(out, files);
  return matches;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = "", out = ""] = process.argv.slice(2);
  process.on("disconnect", () => process.exit());
  process.on("message", async (step) => {
    const [begun, before] = [performance.now(), process.cpuUsage()];
    const matches = await runStep(String(step), folder, out);
    const cpu = process.cpuUsage(before);
    process.send?.({ ms: performance.now() - begun, cpu, matches } satisfies Step);
  });
  process.send?.({ type: "ready", url: "" });
}
