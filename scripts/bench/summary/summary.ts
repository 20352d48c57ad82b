import type { Round } from "../rates.ts";
import { codenamesAim, codenamesRows } from "./codenames.ts";
import { exportAim, exportRows } from "./export.ts";
import { type Aim, type Figures, figuresOf, type Summary } from "./figures.ts";
import {
  chessAim,
  chessRows,
  engineAim,
  flatnessAim,
  flatnessRows,
  leagueRows,
  limitAim,
  limitRows,
  localAims,
  localRows,
  managerStartAim,
  pairRows,
  sdkAim,
  sdkRows,
  transportAim,
  transportRows,
} from "./matches.ts";
import { mcpAim, mcpRows, waitingAims } from "./mcp.ts";
import { pageAims, resultAim, slowdownAim, watchedRows } from "./pages.ts";
import { peerAims, peerRows } from "./peers.ts";
import { restAims, restRows } from "./rest.ts";
import { startAim, startRows } from "./start.ts";

type Needs = readonly (keyof Round)[];

/** The rows of one subject, and the measurements that they show. */
interface Section {
  /** The letters with which its rows and aims begin, one character each. */
  readonly letters: string;
  readonly needs: Needs;
  readonly rows?: (figures: Figures, rounds: readonly Round[]) => Summary["rows"];
}

/** The sections in the order of the table. */
const SECTIONS: readonly Section[] = [
  { letters: "a", needs: ["sizes", "league64"], rows: leagueRows },
  { letters: "b", needs: ["sizes", "limit"], rows: limitRows },
  { letters: "r", needs: ["sizes", "transports"], rows: transportRows },
  { letters: "c", needs: ["pair"], rows: pairRows },
  { letters: "s", needs: ["local"], rows: localRows },
  { letters: "c", needs: ["sdk"], rows: sdkRows },
  { letters: "d", needs: ["chess"], rows: chessRows },
  { letters: "f", needs: ["league1", "league64", "league1000"], rows: flatnessRows },
  { letters: "w", needs: ["peers"], rows: ({ rateRow }, rounds) => peerRows(rateRow, rounds) },
  { letters: "ghij", needs: ["rest"], rows: ({ medianOf, rateRow }) => restRows(medianOf, rateRow) },
  { letters: "kl", needs: ["mcp"], rows: ({ medianOf, rateRow }) => mcpRows(medianOf, rateRow) },
  { letters: "m", needs: ["waiting"] },
  {
    letters: "no",
    needs: ["codenames"],
    rows: ({ microsecondsRow }, [first]) => codenamesRows(microsecondsRow, first?.codenames.positions ?? 0),
  },
  { letters: "p", needs: ["exports"], rows: ({ rateRow }, [first]) => exportRows(rateRow, first?.exports ?? []) },
  { letters: "q", needs: ["managerStart"] },
  { letters: "t", needs: ["pages"] },
  { letters: "u", needs: ["watchedLeague"], rows: ({ rateRow }, [first]) => watchedRows(rateRow, first) },
  { letters: "ev", needs: ["starts"], rows: (_, [first]) => (first ? startRows(first.starts) : []) },
];

/** The aims, and the measurements that each compares. */
const AIMS: readonly {
  readonly needs: Needs;
  readonly aims: (figures: Figures, rounds: readonly Round[]) => readonly Aim[];
}[] = [
  { needs: ["sizes", "league64", "limit"], aims: ({ medianOf }) => [limitAim(medianOf)] },
  { needs: ["transports"], aims: ({ medianOf }) => [transportAim(medianOf)] },
  { needs: ["pair", "sdk"], aims: ({ medianOf }) => [sdkAim(medianOf)] },
  { needs: ["local"], aims: ({ medianOf }) => [...localAims(medianOf), engineAim(medianOf)] },
  { needs: ["peers"], aims: ({ medianOf }, rounds) => peerAims(medianOf, rounds) },
  { needs: ["chess"], aims: ({ medianOf }) => [chessAim(medianOf)] },
  { needs: ["starts"], aims: ({ medianOf }, [first]) => [startAim(medianOf, first?.starts.processes)] },
  { needs: ["league64", "league1000"], aims: ({ medianOf }) => [flatnessAim(medianOf)] },
  { needs: ["rest"], aims: ({ medianOf }) => restAims(medianOf) },
  { needs: ["mcp"], aims: ({ medianOf }) => [mcpAim(medianOf)] },
  { needs: ["waiting"], aims: ({ medianOf }) => waitingAims(medianOf) },
  { needs: ["codenames"], aims: ({ medianOf }) => [codenamesAim(medianOf)] },
  { needs: ["exports"], aims: ({ medianOf }, [first]) => [exportAim(medianOf, first?.exports ?? [])] },
  {
    needs: ["managerStart"],
    aims: ({ medianOf }, [first]) => [managerStartAim(medianOf, first?.managerStart.matches)],
  },
  { needs: ["pages"], aims: ({ medianOf }) => [...pageAims(medianOf), resultAim(medianOf)] },
  { needs: ["watchedLeague"], aims: ({ medianOf }) => [slowdownAim(medianOf)] },
];

/** The letters of all rows and aims. */
export const LETTERS: readonly string[] = [...new Set(SECTIONS.flatMap(({ letters }) => [...letters]))].sort();

/** Returns the measurements of the rows with these letters. */
export const measurementsOf = (letters: readonly string[]): ReadonlySet<keyof Round> =>
  new Set(
    SECTIONS.filter((section) => letters.some((letter) => section.letters.includes(letter))).flatMap(
      ({ needs }) => needs,
    ),
  );

/**
 * Summarises the rounds. Ratios are computed within each round, so that other load of the machine affects both sides. A row or an aim is missing if no
 * round has all its measurements. With `latest`, returns only those that show this measurement.
 */
export function summarise(
  rounds: readonly Partial<Round>[],
  letters: readonly string[],
  latest?: keyof Round,
): Summary {
  const isShown = (needs: Needs): boolean => latest === undefined || needs.includes(latest);
  const from = <T>(needs: Needs, summary?: (figures: Figures, complete: readonly Round[]) => readonly T[]) => {
    // A section reads only the measurements that it needs.
    const complete = rounds.filter((round): round is Round => needs.every((name) => round[name] !== undefined));
    return summary && complete.length > 0 && isShown(needs) ? summary(figuresOf(complete), complete) : [];
  };
  const chosen = SECTIONS.filter((section) => letters.some((letter) => section.letters.includes(letter)));
  return {
    rows: [
      ["measurement", "per s", "range", "CPU µs each", "by process", "other load", ""],
      ...chosen.flatMap(({ needs, rows }) => from(needs, rows)),
    ],
    aims: AIMS.flatMap(({ needs, aims }) => from(needs, aims)),
  };
}
