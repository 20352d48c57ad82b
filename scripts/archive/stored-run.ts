import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { inReadTransaction, OtherFormat, openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import type { Profile } from "../../league-manager/agents/registered-agent.ts";
import { leagueStream, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import { type League, leagueSeed, type Match, optionsOf, seedOfMatch } from "../../league-manager/league/league.ts";
import { rolesOf, summaryOf } from "../../league-manager/league/outcome.ts";
import { standingsOf as leagueStandings } from "../../league-manager/league/standings-of.ts";
import type { StoredRunData } from "../../league-manager/postgres/run-store.ts";
import { eventsOf } from "../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore, readRun } from "../../league-manager/store/manager-store.ts";
import { withDatabase } from "../commands/open-database.ts";
import { hasFailed } from "../run/run-folder.ts";
import type { ExportedMatch, LoggedLeague } from "./format.ts";

/** A league of a manager's store. */
export interface StoredLeague {
  readonly league: League;
  /** Reads all events. Those of a large league take more memory than its state. */
  readonly events: () => Promise<readonly RecordedEvent[]>;
  /** The players in the order of their entry. An erased player has its id as its name, and no salt. */
  readonly players: LoggedLeague["players"];
}

/** The data of a run during one transaction: of a manager's file, or of a database that several managers share. */
export interface StoredRun {
  readonly store: StoredRunData;
  readonly runId: string;
  readonly seed: string;
  readonly leagues: readonly StoredLeague[];
}

/**
 * Calls `read` with the content of a manager's store. All reads are in one transaction, so that they are consistent while the manager runs. Rejects
 * with StartError if the store cannot be read.
 */
export const readingRun = <T>(storeFile: string, read: (run: StoredRun) => T | Promise<T>): Promise<T> =>
  readingStore(storeFile, async () => {
    const db = openStore(storeFile);
    try {
      const store = managerStore(db, noWriter);
      return await inReadTransaction(db, async () => read(await storedRun(store)));
    } finally {
      db.close();
    }
  });

/**
 * Calls `read` with the content of a PostgreSQL database at one moment, also while managers are running. Rejects with StartError if it cannot be read.
 */
export const readingDatabase = <T>(url: string, read: (run: StoredRun) => T | Promise<T>): Promise<T> =>
  withDatabase(url, async ({ pool }) => {
    const { readPostgresRun } = await import("../../league-manager/postgres/run-store.ts");
    return readPostgresRun(pool, async (store) => read(await storedRun(store)));
  });

function openStore(storeFile: string): ReturnType<typeof openSqlite> {
  try {
    return openSqlite(storeFile, MANAGER_SCHEMA);
  } catch (thrown) {
    if (!(thrown instanceof OtherFormat)) throw thrown;
    throw thrown.withAdvice("export it with the version that wrote it; this version can verify that export");
  }
}

async function storedRun(store: StoredRunData): Promise<StoredRun> {
  const { runId, seed } = await readRun(store);
  const profiles = await store.loadProfiles();
  const leagues: StoredLeague[] = [];
  for (const stream of await store.streams(leagueStream(""))) {
    const league = await foldedLeague(store, stream);
    if (!league) continue;
    leagues.push({ league, events: () => store.readEvents(stream), players: playersOf(league, profiles) });
  }
  return { store, runId, seed, leagues };
}

async function foldedLeague(store: StoredRunData, stream: string): Promise<League | null> {
  let league: League | null = null;
  for await (const events of eventsOf(store, stream, 0))
    for (const { body } of events) league = evolveLeague(league, parseLeagueEvent(body));
  return league;
}

const playersOf = ({ entrants }: League, profiles: ReadonlyMap<string, Profile>): LoggedLeague["players"] =>
  [...entrants.keys()].map((player_id) => {
    const profile = profiles.get(player_id);
    return { player_id, display_name: profile?.name ?? player_id, salt: profile?.salt ?? null };
  });

/** Returns the standings of a league as they are exported. */
export const standingsOf = ({ league, players }: StoredLeague): LoggedLeague["standings"] =>
  leagueStandings(
    league,
    players.map(({ player_id, display_name }) => ({ player_id, display_name })),
  ).map((row) => ({ ...row }));

/** Returns a completed match with its seed and its log. The log of an annulled match is not a part of its result. */
export async function exportedMatch(
  { store, seed: runSeed }: StoredRun,
  league: League,
  match: Match,
): Promise<ExportedMatch> {
  const { leagueId: league_id, game, clock } = league;
  const options = optionsOf(league, match);
  const { matchId: match_id, roundId: round_id, refereeId: referee_id, epoch } = match;
  const log = (await store.sessionLogOf(league_id, match_id))?.log ?? [];
  const isAnnulled = match.logHead === "" && log.length > 0;
  return {
    ...(clock && { clock }),
    league_id,
    match_id,
    round_id,
    game,
    options,
    roles: rolesOf(league, match),
    referee_id,
    epoch,
    ...summaryOf(match),
    faults: [...summaryOf(match).faults],
    seed: seedOfMatch(leagueSeed(runSeed, league_id), league_id, match_id, epoch),
    log: isAnnulled ? [] : [...log],
    ...(isAnnulled && { annulled_log: [...log] }),
  };
}

/**
 * Returns the file of the manager's store in the folder of a run or of `league serve`; in a data folder, the newest store of these and of the runs in
 * it. A store in which no league has started is returned only if no other store has a started league, because a manager that fails at its start
 * leaves such a store. Throws StartError if there is no store.
 */
export function findStore(folder: string): string {
  const newest = findStores(folder).toSorted((a, b) => changedAtMs(b) - changedAtMs(a));
  const found = newest.find((store) => newest.length === 1 || hasStartedLeague(store)) ?? newest[0];
  if (!found)
    throw new StartError(`no league in ${folder}: name a folder of data/runs, or the data folder itself`, EXIT.failed);
  return found;
}

/** Returns the files of all managers' stores in the folder of a run or of `league serve`, or in a data folder, without runs that have failed. */
export const findStores = (folder: string): readonly string[] =>
  [folder, ...runsIn(join(folder, "runs")).filter((run) => !hasFailed(run))]
    .map((candidate) => join(candidate, "league-manager.sqlite"))
    .filter(existsSync);

/** Whether a league of a store has started. True for a store that cannot be read, so that the export reports the reason. */
function hasStartedLeague(store: string): boolean {
  try {
    const db = openSqlite(store, MANAGER_SCHEMA);
    try {
      return db.prepare("SELECT 1 FROM log WHERE type = 'started' LIMIT 1").get() !== undefined;
    } finally {
      db.close();
    }
  } catch {
    return true;
  }
}

/** The time of the last change of a store or its write-ahead log, in milliseconds since 1970. */
const changedAtMs = (store: string): number =>
  Math.max(...[store, `${store}-wal`].filter(existsSync).map((file) => statSync(file).mtimeMs));

/** The folders of the runs in a folder, newest first. */
const runsIn = (folder: string): readonly string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder)
        .sort()
        .reverse()
        .map((name) => join(folder, name))
    : [];
