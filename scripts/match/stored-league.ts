import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { leagueStream, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { eventsOf, loadState } from "../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../league-manager/store/manager-store.ts";

/** A league in the store of a run, which another process may be writing. */
export interface StoredLeague {
  /** Returns the league with all events that are in the store now; null if the store does not have the league. Reads only the new events. */
  current(): Promise<League | null>;
  close(): void;
}

/** Opens the store of a run to read a league; null if the run has no store. */
export function openStoredLeague(folder: string, leagueId: string): StoredLeague | null {
  const file = join(folder, "league-manager.sqlite");
  if (!existsSync(file)) return null;
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, noWriter);
  let league: League | null = null;
  const read = async (): Promise<League | null> => {
    if (league === null) {
      const { state } = await loadState(store, [leagueId]);
      league = state.leagues.get(leagueId) ?? null;
      return league;
    }
    for await (const events of eventsOf(store, leagueStream(leagueId), league.version))
      for (const { body } of events) league = evolveLeague(league, parseLeagueEvent(body));
    return league;
  };
  // Each call continues with the league of the call before.
  let latest: Promise<League | null> = Promise.resolve(null);
  return {
    current() {
      latest = latest.then(read, read);
      return latest;
    },
    close: () => db.close(),
  };
}

/** Reads a league from the store of a run; null if it has none. */
export async function storedLeague(folder: string, leagueId: string): Promise<League | null> {
  const stored = openStoredLeague(folder, leagueId);
  try {
    return (await stored?.current()) ?? null;
  } finally {
    stored?.close();
  }
}
