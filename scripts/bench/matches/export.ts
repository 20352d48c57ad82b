import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportOf } from "../../archive/export/export-store.ts";
import { findStore } from "../../archive/export/find-store.ts";
import { writeExport } from "../../archive/files.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { launch, type Rate, temporaryFolder } from "../process.ts";
import { writeSyntheticRun } from "../run.ts";

/** The cost of exporting one run, of replacing that export and of verifying it, each in a separate process. */
export interface ExportCost {
  readonly players: number;
  readonly matches: number;
  readonly export: Rate;
  readonly replace: Rate;
  readonly verify: Rate;
}

interface Step {
  readonly ms: number;
  /** Microseconds of processor time. */
  readonly cpu: NodeJS.CpuUsage;
  readonly matches: number;
}

const SCRIPT = "scripts/bench/matches/export.ts";

/** The cost for a synthetic run of a round robin of so many players. */
export async function exportCost(players: number): Promise<ExportCost> {
  const folder = temporaryFolder();
  const matches = await writeSyntheticRun(folder, players);
  const out = join(folder, "export");
  const rate = async (step: string): Promise<Rate> => {
    const child = await launch(SCRIPT, [folder, out]);
    const { ms, cpu, matches } = await child.ask<Step>(step);
    await child.stop();
    const each = { user: cpu.user / matches, system: cpu.system / matches };
    return { perSecond: (matches / ms) * 1_000, cpu: each, cpuTotal: each.user + each.system, others: 0 };
  };
  const cost = { export: await rate("export"), replace: await rate("export"), verify: await rate("verify") };
  rmSync(folder, { recursive: true });
  return { players, matches, ...cost };
}

async function take(step: string, folder: string, out: string): Promise<number> {
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
    const matches = await take(String(step), folder, out);
    const cpu = process.cpuUsage(before);
    process.send?.({ ms: performance.now() - begun, cpu, matches } satisfies Step);
  });
  process.send?.({ type: "ready", url: "" });
}
