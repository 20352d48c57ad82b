import type { JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { StandingRow, TieBreakColumn } from "../documents/standings.ts";
import { PlayerName } from "../layout/player-name.tsx";
import { Form, Presence } from "./marks.tsx";
import { NumberHeadings, RankCell, RankedTable, rowClass } from "./ranked-table.tsx";

interface StandingsTableProps {
  readonly league: LeagueHeader;
  readonly rows: readonly StandingRow[];
  /** The columns after the form; null for a short table without them. */
  readonly details: {
    readonly tieBreaks: readonly TieBreakColumn[];
    readonly hasByes: boolean;
  } | null;
}

/** The standings of players. */
export function StandingsTable({ league, rows, details }: StandingsTableProps): JSX.Element {
  if (rows.length === 0) return <p class="empty">No player has entered this league yet.</p>;
  const hasForm = rows.some(({ form }) => form.length > 0);
  const headings = (
    <>
      {hasForm && <th scope="col">Last results</th>}
      <NumberHeadings headings={details ? ["Played", "Won", "Drawn", "Lost"] : ["Played"]} />
      {details?.hasByes && <NumberHeadings headings={["Byes"]} />}
      {details?.tieBreaks.map(({ id, heading, rule }) => (
        <th key={id} scope="col" class="n">
          <abbr title={rule}>{heading}</abbr>
        </th>
      ))}
    </>
  );
  return (
    <RankedTable label="Standings" competitor="Player" headings={headings}>
      {rows.map((row) => (
        <tr
          key={row.player_id}
          class={rowClass(row)}
          data-key={row.player_id}
          data-state={`${row.played} ${row.points}`}
        >
          <RankCell league={league} {...row} />
          <th scope="row">
            <PlayerName league={league} player={row} />
            <Presence presence={row.presence} />
          </th>
          <td class="n points">{row.points}</td>
          {hasForm && (
            <td>
              <Form league={league} marks={row.form} />
            </td>
          )}
          <td class="n">{row.played}</td>
          {details && <DetailCells row={row} {...details} />}
        </tr>
      ))}
    </RankedTable>
  );
}

function DetailCells({
  row,
  tieBreaks,
  hasByes,
}: NonNullable<StandingsTableProps["details"]> & { row: StandingRow }): JSX.Element {
  return (
    <>
      <td class="n">{row.wins}</td>
      <td class="n">{row.draws}</td>
      <td class="n">{row.losses}</td>
      {hasByes && <td class="n">{row.byes}</td>}
      {tieBreaks.map(({ id }, index) => (
        <td key={id} class="n">
          {row.tie_breaks[index] ?? "–"}
        </td>
      ))}
    </>
  );
}

/** What determines the order of the standings, if it is not the points. */
export const OrderText = ({ league }: { readonly league: Pick<LeagueHeader, "order"> }): JSX.Element | null =>
  league.order === "" ? null : <p class="order-text">{league.order}</p>;

/** The explanation of the columns of tie-breaks. */
export function TieBreakRules({ tieBreaks }: { readonly tieBreaks: readonly TieBreakColumn[] }): JSX.Element | null {
  if (tieBreaks.length === 0) return null;
  return (
    <details class="rules">
      <summary>What the columns mean</summary>
      <p>Players with equal points are ordered by these columns, from left to right.</p>
      <dl>
        {tieBreaks.map(({ id, heading, rule }) => (
          <div key={id}>
            <dt>{heading}</dt>
            <dd>{rule}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
