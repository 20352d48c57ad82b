import type { Config } from "#shared/runtime/config.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { type ResultsDocument, summaryOf } from "./events.ts";
import { type League, restoreLeague, standingsOf } from "./league.ts";
import { MANAGER_SCHEMA, managerStore } from "./tables.ts";

/** The results and standings so far, as `league run --json` prints them. */
export const documentOf = (leagues: readonly League[], nameOf: (playerId: string) => string): ResultsDocument => ({
  leagues: leagues.map((league) => ({
    league_id: league.config.league_id,
    game: league.game.id,
    status: league.status,
    matches: [...league.matches.values()].flatMap((match) => (match.result ? [summaryOf(match, match.result)] : [])),
    standings: standingsOf(league, nameOf),
  })),
});

/** The same from the file of a manager that has stopped. */
export async function keptDocument(config: Config, storeFile: string): Promise<ResultsDocument> {
  const db = openSqlite(storeFile, MANAGER_SCHEMA);
  try {
    const kept = await (await managerStore(db)).load();
    const names = new Map(kept.agents.map(({ agent_id, display_name }) => [agent_id, display_name]));
    const leagues = config.leagues.map((league) => restoreLeague(league, kept));
    return documentOf(leagues, (playerId) => names.get(playerId) ?? playerId);
  } finally {
    db.close();
  }
}
