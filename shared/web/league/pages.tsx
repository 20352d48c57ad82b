import type { ComponentType, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { PageOf } from "../documents/league.ts";
import type { FactsOfGames } from "../game-facts.ts";
import { NextPage } from "../layout/projector.ts";
import { useDocument } from "../live/use-document.ts";
import { LeaguesPage } from "./leagues-page.tsx";
import { OverviewPage } from "./overview-page.tsx";
import type { PageProps } from "./page-props.ts";
import { StandingsPage } from "./standings-page.tsx";

type Page = ComponentType<PageProps<never>>;

/** The pages by the paths of their addresses. The entry script contains the pages that are opened most; `import` loads each of the others when it is opened. */
const PAGES: readonly (readonly [path: RegExp, page: () => Page | Promise<Page>])[] = [
  [/^\/leagues$/, () => LeaguesPage],
  [/^\/leagues\/[^/]+$/, () => OverviewPage],
  [/^\/leagues\/[^/]+\/standings$/, () => StandingsPage],
  [/^\/leagues\/[^/]+\/players\/[^/]+$/, async () => (await import("./player-page.tsx")).PlayerPage],
  [/^\/leagues\/[^/]+\/crosstable$/, async () => (await import("./crosstable-page.tsx")).CrosstablePage],
  [/^\/leagues\/[^/]+\/schedule$/, async () => (await import("./schedule-page.tsx")).SchedulePage],
  [/^\/leagues\/[^/]+\/bracket$/, async () => (await import("./bracket-page.tsx")).BracketPage],
  [/^\/leagues\/[^/]+\/ratings$/, async () => (await import("./ratings-page.tsx")).RatingsPage],
  [/^\/leagues\/[^/]+\/points$/, async () => (await import("./points-page.tsx")).PointsPage],
  [/^\/leagues\/[^/]+\/matches\/[^/]+$/, async () => (await import("./match-page.tsx")).MatchPage],
  [/^\/leagues\/[^/]+\/operator$/, async () => (await import("../operator/operator-page.tsx")).OperatorPage],
];

interface Setup {
  readonly document: unknown;
  readonly games: FactsOfGames;
}

/** Resolves with the page of an address, which follows its document. */
export async function pageFor(pathname: string, setup: Setup): Promise<JSX.Element> {
  const found = PAGES.find(([path]) => path.test(pathname.replace(/\/$/, "")));
  if (!found) throw new Error(`no page for ${pathname}`);
  const page = await found[1]();
  return <LivePage page={page as ComponentType<PageProps<unknown>>} setup={setup} />;
}

interface LiveProps {
  readonly page: ComponentType<PageProps<unknown>>;
  readonly setup: Setup;
}

/** A page with its live document. A projector shows the pages of a long document one after the other, by calls of `nextPage`. */
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

/** Returns the path of the document of this address: its page with the number `page` or, for null, the page that the address names. */
function documentPath(page: number | null): string {
  const query = new URLSearchParams(location.search);
  query.delete("projector");
  if (page !== null) query.set("page", String(page));
  const search = query.toString();
  return `/api${location.pathname}${search === "" ? "" : `?${search}`}`;
}
