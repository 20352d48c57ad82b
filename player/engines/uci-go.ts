import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { UCI_NODES } from "#shared/runtime/defaults.ts";
import type { Turn } from "../sdk.ts";

type Limits = Pick<UciSettings, "nodes" | "depth" | "movetime_ms">;

/**
 * Returns the command `go` with the limits of the settings. Without them it has the clocks of the match, or a number of nodes if the
 * match has no clocks. `waitedMs` is the time for which the turn has waited for other searches.
 */
export function goCommand(
  { nodes, depth, movetime_ms }: Limits,
  { role, clock }: Pick<Turn, "role" | "clock">,
  waitedMs: number,
): string {
  const limits = Object.entries({ nodes, depth, movetime: movetime_ms }).filter(([, limit]) => limit !== undefined);
  if (limits.length > 0) return ["go", ...limits.flat()].join(" ");
  if (clock.match === null) return `go nodes ${UCI_NODES}`;
  const { remainingMs, incrementMs } = clock.match;
  const left = (color: "white" | "black"): number =>
    Math.max(1, Math.round((remainingMs[color] ?? 0) - (color === role ? waitedMs : 0)));
  return `go wtime ${left("white")} btime ${left("black")} winc ${incrementMs} binc ${incrementMs}`;
}
