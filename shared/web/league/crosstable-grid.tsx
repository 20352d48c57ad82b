import type { JSX, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CrosstableDocument, CrosstableRow } from "../documents/crosstable.ts";
import type { LeagueHeader } from "../documents/league.ts";
import { PlayerName } from "../layout/player-name.tsx";
import { cellInWords, isCounts, markInWords, markText, parsedCell } from "../texts/crosstable-cells.ts";
import { matchPath, playerPath } from "../texts/league-paths.ts";
import { heldFocus, moveFocus, showPosition } from "./crosstable-focus.ts";
import type { Position } from "./crosstable-page.tsx";

interface Props {
  readonly document: CrosstableDocument;
  readonly texts: readonly (readonly (string | null)[])[];
  readonly onAt: (at: Position) => void;
}

/** A row that was drawn: its node, its content as text, and the nodes of its cells by their texts. */
interface DrawnRow {
  readonly node: VNode;
  readonly content: string;
  readonly cells: ReadonlyMap<string | null, VNode>;
}
/** With so many columns there is space for longer names. */
const FEW_COLUMNS = 20;

type Drawn = ReadonlyMap<string, DrawnRow>;

/**
 * The table itself. It may have 10,000 cells, of which a result changes two, and a change of ranks some hundred. Preact skips a node that is the same
 * object as before, so the nodes of rows and cells with the same content are used again.
 */
export function CrosstableGrid({ document, texts, onAt }: Props): JSX.Element {
  const { rows, columns, first_column } = document;
  const table = useRef<HTMLTableElement>(null);
  const drawn = useRef<Drawn>(new Map());
  const heads = columns ?? rows;
  const width = texts.flat().reduce((most, text) => Math.max(most, widthOf(text)), 1);
  const show = (event: Event): void => onAt(showPosition(table.current, event.target));
  const restoreFocus = heldFocus(table.current);
  useLayoutEffect(() => {
    restoreFocus();
    moveFocus(table.current, null);
  });
  drawn.current = drawnRows(document, texts, drawn.current);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide crosstable-region" tabIndex={0} aria-label="Crosstable">
      <table
        ref={table}
        class={heads.length <= FEW_COLUMNS ? "crosstable-grid wide-names" : "crosstable-grid"}
        onPointerOver={show}
        onPointerLeave={() => onAt(showPosition(table.current, null))}
        onFocusIn={show}
        onKeyDown={(event) => moveFocus(table.current, event)}
      >
        <colgroup>
          <col class="number" />
          <col class="name" />
          <col class="points" />
          {heads.map(({ player_id }) => (
            <col key={player_id} class="cell" style={width > 1 ? { width: `${1 + width * MARK_REM}rem` } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th scope="col" class="n">
              #
            </th>
            <th scope="col">Player</th>
            <th scope="col" class="n">
              Points
            </th>
            {heads.map(({ player_id, name }, index) => (
              <th key={player_id} scope="col" title={name}>
                <span aria-hidden="true">{first_column + index}</span>
                <span class="unseen">{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{[...drawn.current.values()].map(({ node }) => node)}</tbody>
      </table>
    </section>
  );
}

/** Draws the rows that differ from those that were drawn before. */
function drawnRows({ league, rows, first_row }: CrosstableDocument, texts: Props["texts"], before: Drawn): Drawn {
  return new Map(
    rows.map((row, index) => {
      const cells = texts[index] ?? [];
      const number = first_row + index;
      const content = `${number} ${row.points} ${row.name} ${cells.join()}`;
      const known = before.get(row.player_id);
      return [row.player_id, known?.content === content ? known : drawnRow(league, row, number, cells, content, known)];
    }),
  );
}

function drawnRow(
  league: LeagueHeader,
  row: CrosstableRow,
  number: number,
  texts: readonly (string | null)[],
  content: string,
  before: DrawnRow | undefined,
): DrawnRow {
  const cells = new Map<string | null, VNode>();
  const nodes = texts.map((text) => {
    const node = cells.get(text) ?? before?.cells.get(text) ?? cellNode(league, row, text);
    cells.set(text, node);
    return node;
  });
  const node = (
    <tr key={row.player_id}>
      <td class="n">{number}</td>
      <th scope="row" title={row.name}>
        <PlayerName league={league} player={row} />
      </th>
      <td class="n">{row.points}</td>
      {nodes}
    </tr>
  );
  return { node, content, cells };
}

/** The width of a mark in a cell with several. */
const MARK_REM = 1.25;

const CLASSES: Readonly<Record<string, string>> = { "1": "won", "+": "won", "0": "lost", "-": "lost", "=": "drawn" };

function cellNode(league: LeagueHeader, row: CrosstableRow, text: string | null): VNode {
  if (text === null) return <td class="self" />;
  const cell = parsedCell(text);
  if ("counts" in cell) return countsNode(league, row, cell.counts, cellInWords(text));
  return (
    <td>
      {cell.matches.map(({ mark, matchId }) => (
        <a
          key={matchId}
          class={CLASSES[mark]}
          href={matchPath(league, matchId)}
          tabIndex={-1}
          aria-label={`${markText(mark)} ${markInWords(mark)}`}
        >
          {markText(mark)}
        </a>
      ))}
    </td>
  );
}

/** Many results of a pair: their numbers, with a link to the player's matches. */
const countsNode = (
  league: LeagueHeader,
  row: CrosstableRow,
  [wins, draws, losses]: readonly [string, string, string],
  label: string,
): VNode => (
  <td>
    <a class="counts" href={playerPath(league, row)} tabIndex={-1} aria-label={label}>
      <span class="won">{wins}</span> <span class="drawn">{draws}</span> <span class="lost">{losses}</span>
    </a>
  </td>
);

/** The width of a cell, in marks. */
function widthOf(text: string | null): number {
  if (text === null || text === "") return 1;
  return isCounts(text) ? (text.length + 1) / 2 : text.split(" ").length;
}
