import type { ExportCost } from "../matches/export.ts";
import type { MedianOf, RateRow, Summary } from "./figures.ts";

const STEPS = { export: "export", replace: "export in place of an older one", verify: "verify" } as const;
type ExportStep = keyof typeof STEPS;
const exportSteps = Object.keys(STEPS) as ExportStep[];

/** The rows of export, replacement and verify for each size of a run. */
export function exportRows(rateRow: RateRow, sizes: readonly ExportCost[]): Summary["rows"] {
  return exportSteps.flatMap((step) =>
    sizes.map(({ matches }, index) =>
      rateRow(`p  ${STEPS[step]}, ${matches} matches`, ({ exports }) => (exports[index] as ExportCost)[step]),
    ),
  );
}

/**
 * Compares the two largest runs, because smaller runs end before their code is compiled. Only user time is compared; system time depends on the
 * disk.
 */
export function exportAim(medianOf: MedianOf, sizes: readonly ExportCost[]): Summary["aims"][number] {
  const growth = (step: ExportStep): number =>
    medianOf(({ exports }) => {
      const [smaller = 1, larger = 1] = exports.slice(-2).map((cost) => cost[step].cpu.user ?? 1);
      return larger / smaller;
    });
  const growths = exportSteps.map(growth);
  const [from, to] = sizes.slice(-2).map(({ matches }) => matches);
  return {
    aim: `p  CPU time per match constant from ${from} to ${to} matches`,
    measured: exportSteps.map((step, index) => `${STEPS[step]} ${growths[index]?.toFixed(2)} times`).join(", "),
    isMet: Math.max(...growths) <= 1.5,
  };
}
