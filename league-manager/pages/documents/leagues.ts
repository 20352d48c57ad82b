import type { LeaguesDocument } from "#shared/web/documents/leagues.ts";
import type { DocumentContext } from "./document.ts";
import { headerOf, pageOf, playerRef } from "./league.ts";

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
