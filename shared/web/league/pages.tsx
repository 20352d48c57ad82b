import type { ComponentType, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { FactsOfGames } from "#shared/web/game-view.ts";
import { NextPage, type PageProps } from "#shared/web/layout/league-layout.tsx";
import type { PageOf } from "#shared/web/league-documents.ts";
import type { LeaguePage } from "#shared/web/page-files.ts";
import { useDocument } from "#shared/web/transports/live-client.ts";

type Page = ComponentType<PageProps<never>>;

/** The pages. A browser loads only the script of the page that it shows. */
const PAGES: Readonly<Record<LeaguePage, () => Promise<Page>>> = {
  leagues: async () => (await import("./leagues-page.tsx")).LeaguesPage,
  overview: async () => (await import("./overview-page.tsx")).OverviewPage,
  standings: async () => (await import("./standings-page.tsx")).StandingsPage,
  player: async () => (await import("./player-page.tsx")).PlayerPage,
  crosstable: async () => (await import("./crosstable-page.tsx")).CrosstablePage,
  schedule: async () => (await import("./schedule-page.tsx")).SchedulePage,
  bracket: async () => (await import("./bracket-page.tsx")).BracketPage,
  ratings: async () => (await import("./ratings-page.tsx")).RatingsPage,
  points: async () => (await import("./points-page.tsx")).PointsPage,
  match: async () => (await import("./match-page.tsx")).MatchPage,
  operator: async () => (await import("./operator-page.tsx")).OperatorPage,
};

interface Setup {
  readonly document: unknown;
  readonly games: FactsOfGames;
}

/** Resolves with a page, which follows its document. */
export async function pageFor(name: LeaguePage, setup: Setup): Promise<JSX.Element> {
  const page = await PAGES[name]();
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
