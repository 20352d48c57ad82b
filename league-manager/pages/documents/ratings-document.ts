import type { RatingsDocumentPage } from "#shared/web/league-documents.ts";
import { AVERAGE_RATING } from "#shared/web/rating-interval.ts";
import type { League } from "../../league/league.ts";
import { type DocumentContext, type DocumentKind, type DocumentRequest, headerOf, pageOf } from "./document.ts";

export const ratings = {
  page: "ratings",
  path: "ratings",
  title: ({ league }: RatingsDocumentPage) => `Ratings – ${league.league_id}`,
  read: ratingsDocument,
} satisfies DocumentKind;

/**
 * The maximum number of players of a league for pages to show its ratings. The time to compute them grows with the cube of the number of players, and meanwhile the manager
 * does not answer: about 30 ms for 300 players, 2 s for 1,000.
 */
const MAX_RATED_PLAYERS = 300;

/** Whether pages show the ratings of a league. */
export const hasRatings = ({ entrants }: Pick<League, "entrants">): boolean => entrants.size <= MAX_RATED_PLAYERS;

/** The ratings of a league that has too many players for its pages. */
const NOT_RATED = { model: "bradley-terry", matches: 0, players: [], comparisons: [] } as const;

/** Returns one page of the ratings, with the comparison of each player with the next one. */
async function ratingsDocument(
  context: DocumentContext,
  { league, query }: DocumentRequest,
): Promise<RatingsDocumentPage> {
  const { model, matches, players, comparisons } = hasRatings(league)
    ? await context.views.projections.ratings(league)
    : NOT_RATED;
  const compared = new Map(comparisons.map((one) => [`${one.player_id} ${one.other_id}`, one]));
  const { rows, ...page } = pageOf(players, query);
  const first = rows[0] === undefined ? 0 : players.indexOf(rows[0]);
  return {
    league: headerOf(context, league),
    ...page,
    model,
    matches,
    first: first + 1,
    limit: hasRatings(league) ? null : MAX_RATED_PLAYERS,
    low: players.reduce((low, { rating, error }) => Math.min(low, rating - error), AVERAGE_RATING),
    high: players.reduce((high, { rating, error }) => Math.max(high, rating + error), AVERAGE_RATING),
    rows: rows.map(({ player_id, display_name, ...row }, index) => {
      const next = players[first + index + 1];
      const comparison = next && compared.get(`${player_id} ${next.player_id}`);
      const { likelihood = 0, significant: is_significant = false } = comparison ?? {};
      return { player_id, name: display_name, ...row, next: comparison ? { likelihood, is_significant } : null };
    }),
  };
}
