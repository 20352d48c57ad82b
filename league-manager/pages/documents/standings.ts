import { tieBreakColumns } from "#shared/standings/tie-breaks.ts";
import type { StandingsDocument } from "#shared/web/documents/standings.ts";
import type { DocumentContext, DocumentKind, DocumentRequest } from "./document.ts";
import { headerOf, pageOf } from "./league.ts";

export const standings = {
  path: "standings",
  title: ({ league }: StandingsDocument) => `Standings – ${league.league_id}`,
  read: standingsDocument,
} satisfies DocumentKind;

/** Returns one page of the standings. */
export function standingsDocument(context: DocumentContext, { league, query }: DocumentRequest): StandingsDocument {
  const all = context.views.projections.standings(league);
  const tieBreaks = tieBreakColumns(all);
  const { rows, ...page } = pageOf(all, query);
  return {
    league: headerOf(context, league),
    ...page,
    tie_breaks: tieBreaks.map(({ id, heading }) => ({ id, heading })),
    has_byes: all[0]?.byes !== undefined,
    rows: rows.map(({ display_name, tie_breaks, byes = 0, ...row }) => ({
      ...{ rank: row.rank, player_id: row.player_id, name: display_name, points: row.points },
      ...{ played: row.played, wins: row.wins, draws: row.draws, losses: row.losses, byes },
      tie_breaks: tieBreaks.map(({ id }) => tie_breaks?.[id] ?? null),
    })),
  };
}
