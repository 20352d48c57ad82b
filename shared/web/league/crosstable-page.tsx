import type { JSX } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { CrosstableDocument } from "../documents/crosstable.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { cellInWords, cellTexts, isCounts } from "../texts/crosstable-cells.ts";
import { CrosstableGrid } from "./crosstable-grid.tsx";
import type { PageProps } from "./page-props.ts";

/** The cell at which the mouse or the focus is, by row and column. */
export type Position = readonly [row: number, column: number] | null;

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
