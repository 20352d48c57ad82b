import type { JSX, VNode } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { LeagueLayout, type PageProps } from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type { CrosstableDocument, CrosstableRow, LeagueHeader } from "#shared/web/league-documents.ts";
import {
  cellInWords,
  cellTexts,
  isCounts,
  markInWords,
  markText,
  parsedCell,
} from "#shared/web/texts/crosstable-cells.ts";
import { matchPath, playerPath } from "#shared/web/texts/league-texts.ts";

/** The cell at which the mouse or the focus is, by row and column. */
type Position = readonly [row: number, column: number] | null;

/** The results of all players against all others. */
export function CrosstablePage({ document, problem }: PageProps<CrosstableDocument>): JSX.Element {
  const { league, rows } = document;
  return (
    <LeagueLayout league={league} section="crosstable" problem={problem}>
      {rows.length === 0 ? <p>No player has entered this league yet.</p> : <Crosstable document={document} />}
    </LeagueLayout>
  );
}

function Crosstable({ document }: { readonly document: CrosstableDocument }): JSX.Element {
  const [at, setAt] = useState<Position>(null);
  const texts = useMemo(() => cellTexts(document), [document]);
  const hasCounts = useMemo(() => texts.some((row) => row.some((text) => text !== null && isCounts(text))), [texts]);
  const onAt = useCallback((next: Position) => setAt((was) => (`${was}` === `${next}` ? was : next)), []);
  // The same node while the document is the same, so that moving the mouse does not draw the table again.
  const grid = useMemo(() => <CrosstableGrid document={document} texts={texts} onAt={onAt} />, [document, texts, onAt]);
  return (
    <>
      <p class="crosstable-key">
        A row has the results of a player against the players of the columns: <b>1</b> won, <b>=</b> drawn, <b>0</b>{" "}
        lost, <b>+</b> won and <b>−</b> lost by forfeit.
        {hasCounts && " Three numbers are matches won, drawn and lost; they open the page of the player."}
        <span class="crosstable-links"> Each result opens its match.</span>
        <span class="crosstable-hint"> The arrow keys move between the results.</span>
      </p>
      <PagesOfTable document={document} />
      <p class="crosstable-at">{at && <CellInWords document={document} texts={texts} at={at} />}</p>
      {grid}
    </>
  );
}

interface CellProps {
  readonly document: CrosstableDocument;
  readonly texts: ReturnType<typeof cellTexts>;
  readonly at: readonly [row: number, column: number];
}

function CellInWords({ document: { rows, columns }, texts, at: [row, column] }: CellProps): JSX.Element | null {
  const [player, opponent] = [rows[row], (columns ?? rows)[column]];
  const text = texts[row]?.[column];
  if (!player || !opponent || text === undefined) return null;
  if (text === null) return <bdi>{player.name}</bdi>;
  return (
    <>
      <bdi>{player.name}</bdi> against <bdi>{opponent.name}</bdi>: {cellInWords(text)}
    </>
  );
}

/** The links to the parts of a table that is too large for one page. */
function PagesOfTable({ document }: { readonly document: CrosstableDocument }): JSX.Element | null {
  const { league, pages, row_page, column_page } = document;
  if (pages === 1) return null;
  return (
    <div class="crosstable-pages">
      <Parts name="Rows" parameter="rows" page={row_page} pages={pages} players={league.players} />
      <Parts name="Columns" parameter="columns" page={column_page} pages={pages} players={league.players} />
    </div>
  );
}

interface PartsProps {
  readonly name: string;
  readonly parameter: "rows" | "columns";
  readonly page: number;
  readonly pages: number;
  readonly players: number;
}

/** The players of a page of a table that has more than one. */
const PAGE_PLAYERS = 50;

function Parts({ name, parameter, page, pages, players }: PartsProps): JSX.Element {
  const addressOf = (number: number): string => {
    const query = new URLSearchParams(location.search);
    query.set(parameter, String(number));
    return `${location.pathname}?${query}`;
  };
  return (
    <nav class="pages" aria-label={name}>
      <span>{name}</span>
      {Array.from({ length: pages }, (_, index) => index + 1).map((number) => (
        <a key={number} href={addressOf(number)} aria-current={number === page ? "page" : undefined}>
          {(number - 1) * PAGE_PLAYERS + 1}–{Math.min(number * PAGE_PLAYERS, players)}
        </a>
      ))}
    </nav>
  );
}

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
function CrosstableGrid({ document, texts, onAt }: Props): JSX.Element {
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

/** The cells before those of the results: number, name and points. */
const LEADING = 3;

/**
 * Marks the column and the row of a cell, and returns its position. It changes the elements directly, because drawing the table again at each movement
 * of the mouse would be slow.
 */
function showPosition(table: HTMLTableElement | null, target: EventTarget | null): Position {
  const cell = target instanceof Element ? target.closest("td, th") : null;
  const row = cell?.closest("tbody tr") as HTMLTableRowElement | null | undefined;
  const column = (cell as HTMLTableCellElement | null)?.cellIndex ?? -1;
  for (const marked of table?.querySelectorAll(".at") ?? []) marked.classList.remove("at");
  if (!table || column < LEADING) {
    row?.classList.add("at");
    return null;
  }
  row?.classList.add("at");
  table.querySelectorAll("col")[column]?.classList.add("at");
  table.tHead?.rows[0]?.cells[column]?.classList.add("at");
  return row ? [row.sectionRowIndex, column - LEADING] : null;
}

const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/**
 * Moves the focus to the next result in the direction of an arrow key. One result is a tab stop, because a table may have thousands. Without an event
 * only makes sure that there is a tab stop.
 */
function moveFocus(table: HTMLTableElement | null, event: KeyboardEvent | null): void {
  const body = table?.tBodies[0];
  const stops = [...(body?.querySelectorAll<HTMLAnchorElement>('td a[tabindex="0"]') ?? [])];
  if (event === null) {
    if (stops.length === 0) body?.querySelector<HTMLAnchorElement>("td a")?.setAttribute("tabindex", "0");
    return;
  }
  const step = STEPS[event.key];
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("td a") : null;
  if (!step || !link || !body) return;
  event.preventDefault();
  const next = nextLink(body, link, step);
  if (!next) return;
  for (const stop of stops) stop.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** Returns the next link in a direction: in the same cell, or in the next cell that has one. */
function nextLink(
  body: HTMLTableSectionElement,
  link: HTMLAnchorElement,
  [down, right]: readonly [number, number],
): HTMLAnchorElement | null {
  const sibling = right > 0 ? link.nextElementSibling : right < 0 ? link.previousElementSibling : null;
  if (sibling instanceof HTMLAnchorElement) return sibling;
  const cell = link.closest("td") as HTMLTableCellElement;
  let [row, column] = [(cell.parentElement as HTMLTableRowElement).sectionRowIndex, cell.cellIndex];
  for (;;) {
    row += down;
    column += right;
    const next = body.rows[row]?.cells[column];
    if (!next || column < LEADING) return null;
    const links = next.querySelectorAll("a");
    const found = right < 0 ? links[links.length - 1] : links[0];
    if (found) return found;
  }
}

/**
 * Notes which result has the focus before the table is drawn again. Returns a function that gives the focus back, because the result may then be in
 * another cell.
 */
function heldFocus(table: HTMLTableElement | null): () => void {
  const active = document.activeElement;
  if (!table || !(active instanceof HTMLAnchorElement) || !table.contains(active)) return () => {};
  const address = active.getAttribute("href");
  const row = active.closest("tr");
  return () => {
    if (document.activeElement?.getAttribute("href") === address) return;
    const link = [...(row?.querySelectorAll("a") ?? [])].find((one) => one.getAttribute("href") === address);
    if (!link) return;
    for (const stop of table.querySelectorAll('td a[tabindex="0"]')) stop.setAttribute("tabindex", "-1");
    if (link.closest("td")) link.setAttribute("tabindex", "0");
    link.focus({ preventScroll: true });
  };
}
