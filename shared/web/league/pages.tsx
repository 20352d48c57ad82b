import type { ComponentType, JSX } from "preact";
import type { FactsOfGames } from "../game-facts.ts";
import { useDocument } from "../live/use-document.ts";
import { LeaguesPage } from "./leagues-page.tsx";
import { OverviewPage } from "./overview-page.tsx";
import type { PageProps } from "./page-props.ts";
import { StandingsPage } from "./standings-page.tsx";

/** The pages by the paths of their addresses. */
const PAGES: readonly (readonly [path: RegExp, page: ComponentType<PageProps<never>>])[] = [
  [/^\/leagues$/, LeaguesPage],
  [/^\/leagues\/[^/]+$/, OverviewPage],
  [/^\/leagues\/[^/]+\/standings$/, StandingsPage],
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
  const { document, problem } = useDocument(`/api${location.pathname}${location.search}`, setup.document);
  return <Page document={document} problem={problem} games={setup.games} />;
}
