import type { Sizes } from "../matches/league.ts";
import type { Round } from "../rates.ts";
import { codenamesAim, codenamesRows } from "./codenames.ts";
import { exportAim, exportRows } from "./export.ts";
import { figuresOf, type Summary } from "./figures.ts";
import { chessAim, flatnessAim, limitAim, managerStartAim, matchRows, sdkAim, startAim } from "./matches.ts";
import { mcpAim, mcpRows, waitingAims } from "./mcp.ts";
import { restAims, restRows } from "./rest.ts";

/** Ratios are taken within each round, so that a busy machine slows both sides. */
export function summarise(rounds: readonly Round[], sizes: Sizes): Summary {
  const figures = figuresOf(rounds);
  const { of, row, us } = figures;
  const [first] = rounds;
  const exports = first?.exports ?? [];
  return {
    rows: [
      ["what", "per s", "spread", "CPU µs each", "of it", "others", ""],
      ...matchRows(figures, sizes, first?.chess.plies),
      ...restRows(of, row),
      ...mcpRows(of, row),
      ...codenamesRows(us, first?.codenames.positions ?? 0),
      ...exportRows(row, exports),
    ],
    aims: [
      limitAim(of, sizes),
      sdkAim(of),
      chessAim(of),
      startAim(of, first?.starts.processes),
      flatnessAim(of),
      ...restAims(of),
      mcpAim(of),
      ...waitingAims(of),
      codenamesAim(of),
      exportAim(of, exports),
      managerStartAim(of, first?.managerStart.matches),
    ],
  };
}
