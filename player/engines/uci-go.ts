import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { UCI_NODES } from "#shared/runtime/defaults.ts";
import type { Turn } from "../sdk.ts";

type Limits = Pick<UciSettings, "nodes" | "depth" | "movetime_ms">;

/** The limits of a search, as far as they are not the clocks of the match. */
interface SearchLimits {
  readonly nodes?: number;
  readonly depth?: number;
  readonly movetime?: number;
}

/** Returns the limits of the settings. Without them it is a number of nodes, or no limit in a match with clocks. */
export function limitsOf({ nodes, depth, movetime_ms }: Limits, { match }: Turn["clock"]): SearchLimits {
  const limits = {
    ...(nodes !== undefined && { nodes }),
    ...(depth !== undefined && { depth }),
    ...(movetime_ms !== undefined && { movetime: movetime_ms }),
  };
  return match === null && Object.keys(limits).length === 0 ? { nodes: UCI_NODES } : limits;
}

/** The time that is kept for messages, at most a quarter of the time that is left, so that a move arrives in time. */
const RESERVE_MS = 250;

/** Returns the time that an engine may use of the time that its player has left, in whole milliseconds. */
export const usableMs = (leftMs: number): number => Math.max(0, Math.floor(leftMs - Math.min(RESERVE_MS, leftMs / 4)));

/**
 * Returns the command `go` with the limits, or with the clocks of the match if there are none. `waitedMs` is the time for which the turn
 * has waited for other searches.
 */
export function goCommand(
  limits: SearchLimits,
  { role, clock }: Pick<Turn, "role" | "clock">,
  waitedMs: number,
): string {
  const words = Object.entries(limits).flat();
  if (words.length > 0 || clock.match === null) return ["go", ...words].join(" ");
  const { remainingMs, incrementMs } = clock.match;
  const left = (color: "white" | "black"): number => {
    const ms = remainingMs[color] ?? 0;
    return Math.max(1, color === role ? usableMs(ms - waitedMs) : Math.round(ms));
  };
  return `go wtime ${left("white")} btime ${left("black")} winc ${incrementMs} binc ${incrementMs}`;
}
