import type { ExportCost } from "../matches/export.ts";
import type { Of, Row, Summary } from "./figures.ts";

const STEPS = { export: "export", replace: "export in place of an older one", verify: "verify" } as const;
type ExportStep = keyof typeof STEPS;
const exportSteps = Object.keys(STEPS) as ExportStep[];

export function exportRows(row: Row, sizes: readonly ExportCost[]): Summary["rows"] {
  return exportSteps.flatMap((step) =>
    sizes.map(({ matches }, index) =>
      row(`p  ${STEPS[step]}, ${matches} matches`, ({ exports }) => (exports[index] as ExportCost)[step]),
    ),
  );
}

/** Of the two largest runs: a smaller one is over before its code is compiled. System time is that of the disk. */
export function exportAim(of: Of, sizes: readonly ExportCost[]): Summary["aims"][number] {
  const growth = (step: ExportStep): number =>
    of(({ exports }) => {
      const [smaller = 1, larger = 1] = exports.slice(-2).map((cost) => cost[step].cpu.user ?? 1);
      return larger / smaller;
    });
  const growths = exportSteps.map(growth);
  const [from, to] = sizes.slice(-2).map(({ matches }) => matches);
  return {
    aim: `p  CPU time of a match flat from ${from} to ${to}`,
    measured: exportSteps.map((step, index) => `${STEPS[step]} ${growths[index]?.toFixed(2)} times`).join(", "),
    isMet: Math.max(...growths) <= 1.5,
  };
}
