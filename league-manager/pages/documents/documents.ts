import type { LeaguesDocument } from "#shared/web/league-documents.ts";
import { bracket } from "./bracket-document.ts";
import { crosstable } from "./crosstable-document.ts";
import { type DocumentContext, type DocumentKind, headerOf, pageOf, playerRef } from "./document.ts";
import { match } from "./match-document.ts";
import { operator } from "./operator-document.ts";
import { overview } from "./overview-document.ts";
import { player } from "./player-document.ts";
import { points } from "./points-document.ts";
import { ratings } from "./ratings-document.ts";
import { schedule } from "./schedule-document.ts";
import { standings } from "./standings-document.ts";

/** The documents of a league, one for each page. */
export const DOCUMENTS: readonly DocumentKind[] = [
  overview,
  standings,
  crosstable,
  schedule,
  bracket,
  ratings,
  points,
  player,
  match,
  operator,
];

/** With more leaders than this, none is named. */
const MAX_LEADERS = 3;

/** Returns the list of leagues: those that are not completed first, in the order of the config. */
export function leaguesDocument(context: DocumentContext, query: URLSearchParams): LeaguesDocument {
  const { projections } = context.views;
  const leagues = projections.leagues();
  const ordered = [
    ...leagues.filter(({ status }) => status !== "completed"),
    ...leagues.filter(({ status }) => status === "completed"),
  ];
  const { rows, ...page } = pageOf(ordered, query);
  return {
    ...page,
    leagues: rows.map((league) => {
      const first = league.completedCount > 0 ? projections.standings(league).filter(({ rank }) => rank === 1) : [];
      const leaders = (first.length <= MAX_LEADERS ? first : []).map(({ player_id }) =>
        playerRef(projections, player_id),
      );
      return { ...headerOf(context, league), leaders };
    }),
  };
}
