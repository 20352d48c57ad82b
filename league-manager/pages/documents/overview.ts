import type { OverviewDocument } from "#shared/web/documents/overview.ts";
import { currentMatches } from "../../league/league.ts";
import type { DocumentContext, DocumentKind, DocumentRequest } from "./document.ts";
import { headerOf, matchRow } from "./league.ts";
import { standingsDocument } from "./standings.ts";

const MAX_LEADERS = 10;
const MAX_MATCHES = 10;

export const overview = {
  path: "",
  title: ({ league }: OverviewDocument) => league.league_id,
  read: overviewDocument,
} satisfies DocumentKind;

function overviewDocument(context: DocumentContext, request: DocumentRequest): OverviewDocument {
  const { league } = request;
  const { projections } = context.views;
  const playing = currentMatches(league).filter(({ status }) => status === "assigned");
  return {
    league: headerOf(context, league),
    leaders: standingsDocument(context, request).rows.slice(0, MAX_LEADERS),
    playing: playing.slice(0, MAX_MATCHES).map((match) => matchRow(projections, league, match)),
    results: [],
  };
}
