import type { ComponentType, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { PageOf } from "../documents/league.ts";
import type { FactsOfGames } from "../game-facts.ts";
import { NextPage } from "../layout/projector.ts";
import { useDocument } from "../live/use-document.ts";
import { BracketPage } from "./bracket-page.tsx";
import { CrosstablePage } from "./crosstable-page.tsx";
import { LeaguesPage } from "./leagues-page.tsx";
import { MatchPage } from "./match-page.tsx";
import { OverviewPage } from "./overview-page.tsx";
import type { PageProps } from "./page-props.ts";
import { PlayerPage } from "./player-page.tsx";
import { PointsPage } from "./points-page.tsx";
import { RatingsPage } from "./ratings-page.tsx";
import { SchedulePage } from "./schedule-page.tsx";
import { StandingsPage } from "./standings-page.tsx";

/** The pages by the paths of their addresses. */
const PAGES: readonly (readonly [path: RegExp, page: ComponentType<PageProps<never>>])[] = [
  [/^\/leagues$/, LeaguesPage],
  [/^\/leagues\/[^/]+$/, OverviewPage],
  [/^\/leagues\/[^/]+\/standings$/, StandingsPage],
  [/^\/leagues\/[^/]+\/players\/[^/]+$/, PlayerPage],
  [/^\/leagues\/[^/]+\/crosstable$/, CrosstablePage],
  [/^\/leagues\/[^/]+\/schedule$/, SchedulePage],
  [/^\/leagues\/[^/]+\/bracket$/, BracketPage],
  [/^\/leagues\/[^/]+\/ratings$/, RatingsPage],
  [/^\/leagues\/[^/]+\/points$/, PointsPage],
  [/^\/leagues\/[^/]+\/matches\/[^/]+$/, MatchPage],
];

interface Setup {
  readonly document: unknown;
  readonly games: FactsOfGames;
}

/** Returns the page of an address, which follows its document. */
export function pageFor(pathname: string, setup: Setup): JSX.Element {
  const found = PAGES.find(([path]) => path.test(pathname.replace(/\/$/, "")));
  if (!found) throw new Error(`no page for ${pathname}`);
  return <LivePage page={found[1] as ComponentType<PageProps<unknown>>} setup={setup} />;
}

interface LiveProps {
  readonly page: ComponentType<PageProps<unknown>>;
  readonly setup: Setup;
}

function LivePage({ page: Page, setup }: LiveProps): JSX.Element {
  const [page, setPage] = useState<number | null>(null);
  const { document, problem } = useDocument(documentPath(page), setup.document);
  /** Shown until the first state of another page of the document arrives. */
  const shown = useRef(document);
  if (document !== null) shown.current = document;
  const { page: number = 1, pages = 1 } = shown.current as Partial<PageOf>;
  const nextPage = (): void => setPage(pages > 1 ? (number % pages) + 1 : null);
  return (
    <NextPage.Provider value={nextPage}>
      <Page document={shown.current} problem={problem} games={setup.games} />
    </NextPage.Provider>
  );
}

/** Returns the path of the document that the address of the page names, or of another page of it. */
function documentPath(page: number | null): string {
  const query = new URLSearchParams(location.search);
  query.delete("projector");
  if (page !== null) query.set("page", String(page));
  const search = query.toString();
  return `/api${location.pathname}${search === "" ? "" : `?${search}`}`;
}
