import type { Sizes } from "../matches/league.ts";
import type { Round } from "../rates.ts";
import { codenamesAim, codenamesRows } from "./codenames.ts";
import { exportAim, exportRows } from "./export.ts";
import { figuresOf, type Summary } from "./figures.ts";
import {
  chessAim,
  engineAim,
  flatnessAim,
  limitAim,
  localAims,
  managerStartAim,
  matchRows,
  sdkAim,
  transportAim,
} from "./matches.ts";
import { mcpAim, mcpRows, waitingAims } from "./mcp.ts";
import { pageAims, pageRows } from "./pages.ts";
import { peerAims, peerRows } from "./peers.ts";
import { restAims, restRows } from "./rest.ts";
import { startAim, startRows } from "./start.ts";

/** Summarises the rounds. Ratios are computed within each round, so that other load of the machine affects both sides. */
export function summarise(rounds: readonly Round[], sizes: Sizes): Summary {
  const figures = figuresOf(rounds);
  const { medianOf, rateRow, microsecondsRow } = figures;
  const [first] = rounds;
  const exports = first?.exports ?? [];
  return {
    rows: [
      ["measurement", "per s", "range", "CPU µs each", "by process", "other load", ""],
      ...matchRows(figures, sizes, first?.chess.plies),
      ...peerRows(rateRow, rounds),
      ...restRows(medianOf, rateRow),
      ...mcpRows(medianOf, rateRow),
      ...codenamesRows(microsecondsRow, first?.codenames.positions ?? 0),
      ...exportRows(rateRow, exports),
      ...pageRows(rateRow, first),
      ...(first ? startRows(first.starts) : []),
    ],
    aims: [
      limitAim(medianOf, sizes),
      transportAim(medianOf),
      sdkAim(medianOf),
      ...localAims(medianOf),
      engineAim(medianOf),
      ...peerAims(medianOf, rounds),
      chessAim(medianOf),
      startAim(medianOf, first?.starts.processes),
      flatnessAim(medianOf),
      ...restAims(medianOf),
      mcpAim(medianOf),
      ...waitingAims(medianOf),
      codenamesAim(medianOf),
      exportAim(medianOf, exports),
      managerStartAim(medianOf, first?.managerStart.matches),
      ...pageAims(medianOf),
    ],
  };
}
