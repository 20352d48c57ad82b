import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import type { StandingRow } from "../documents/standings.ts";
import { Movement } from "./marks.tsx";
import { useRowMotion } from "./use-row-motion.ts";

interface Props {
  readonly label: string;
  /** The heading of the names: "Player" or "Team". */
  readonly competitor: string;
  /** The headings of the columns after the points. */
  readonly headings: ComponentChildren;
  /** The rows: each begins with a `RankCell`, the name and the points. */
  readonly children: ComponentChildren;
}

/** A table of ranks. Its rows move to their places after a change. On a narrow screen the columns after the points scroll. */
export function RankedTable({ label, competitor, headings, children }: Props): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  useRowMotion(body);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label={label}>
      <table class="data standings">
        <thead>
          <tr>
            <th scope="col" class="rank">
              <abbr title="Rank">#</abbr>
            </th>
            <th scope="col">{competitor}</th>
            <th scope="col" class="n points">
              Points
            </th>
            {headings}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </section>
  );
}

/** The class of a row: `leader` for each player or team of rank 1. Before its first match, a player does not lead. */
export const rowClass = ({ rank, played }: Pick<StandingRow, "rank" | "played">): string =>
  rank === 1 && played > 0 ? "leader" : "";

/** The rank and its change since the previous round. */
export function RankCell({ rank, movement }: Pick<StandingRow, "rank" | "movement">): JSX.Element {
  return (
    <td class="rank">
      {rank}
      <Movement by={movement} />
    </td>
  );
}

export function NumberHeadings({ headings }: { readonly headings: readonly string[] }): JSX.Element {
  return (
    <>
      {headings.map((heading) => (
        <th key={heading} scope="col" class="n">
          {heading}
        </th>
      ))}
    </>
  );
}
