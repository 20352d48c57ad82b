import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";
import type { LeagueHeader } from "../documents/league.ts";
import type { StandingRow } from "../documents/standings.ts";
import { Movement } from "./marks.tsx";
import { useRowMotion } from "./use-row-motion.ts";

interface RankedTableProps {
  readonly label: string;
  /** The heading of the names: "Player" or "Team". */
  readonly competitor: string;
  /** The headings of the columns after the points. */
  readonly headings: ComponentChildren;
  /** The rows: each begins with a `RankCell`, the name and the points. */
  readonly children: ComponentChildren;
}

/** A table of ranks. Its rows move to their places after a change. On a narrow screen the columns after the points scroll. */
export function RankedTable({ label, competitor, headings, children }: RankedTableProps): JSX.Element {
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

interface RankProps extends Pick<StandingRow, "rank" | "movement"> {
  readonly league: Pick<LeagueHeader, "status">;
}

/** The rank and its change since the previous round. In final standings an unchanged rank has no mark: "=" would read as a shared rank. */
export function RankCell({ league, rank, movement }: RankProps): JSX.Element {
  return (
    <td class="rank">
      {rank}
      <Movement by={league.status === "completed" && movement === 0 ? null : movement} />
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
