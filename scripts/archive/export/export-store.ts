import { dirname } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { GENESIS } from "#shared/lib/hash-chain.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { inReadTransaction, OtherFormat, openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { agentStream } from "../../../league-manager/agents/events.ts";
import { leagueStream, parseLeagueEvent } from "../../../league-manager/league/events.ts";
import { foldLeague } from "../../../league-manager/league/evolve.ts";
import type { League, Match } from "../../../league-manager/league/league.ts";
import { rolesOf, summaryOf } from "../../../league-manager/league/outcome.ts";
import { leagueSeed, seedOfMatch } from "../../../league-manager/league/seeds.ts";
import { tallyOf } from "../../../league-manager/league/standings.ts";
import { type ManagerStore, managerStore } from "../../../league-manager/store/manager-store.ts";
import { readRun } from "../../../league-manager/store/run-identity.ts";
import { MANAGER_SCHEMA } from "../../../league-manager/store/schema.ts";
import { agentLogFile, canonical, leagueLogFile, linesOf, matchFile, RUN_FILE } from "../files.ts";
import { completedMatches, ExportedMatch, LoggedRun } from "../format.ts";
import { llmFilesOf } from "./llm-records.ts";

type Files = Map<string, string>;

/** The content of an export. */
export interface Export {
  /** The texts of the files, by file name. */
  readonly files: ReadonlyMap<string, string>;
  /** The number of completed matches. */
  readonly matches: number;
  /** The number of matches still to be played, by league id. Completed leagues have no entry. */
  readonly unplayed: ReadonlyMap<string, number>;
}

/**
 * Returns the content of an export of a manager's store. All reads are in one transaction, so that the export is consistent while the manager runs.
 * Throws StartError if the store cannot be read.
 */
export const exportOf = (storeFile: string): Promise<Export> =>
  readingStore(storeFile, () => {
    const db = openStore(storeFile);
    try {
      const store = managerStore(db, noWriter);
      const exported = inReadTransaction(db, () => exportFrom(store));
      const records = llmFilesOf(dirname(storeFile), exported.completed);
      return { ...exported, files: new Map([...exported.files, ...records]) };
    } finally {
      db.close();
    }
  });

function openStore(storeFile: string): ReturnType<typeof openSqlite> {
  try {
    return openSqlite(storeFile, MANAGER_SCHEMA);
  } catch (thrown) {
    if (!(thrown instanceof OtherFormat)) throw thrown;
    throw thrown.withAdvice("export it with the version that wrote it; this version can verify that export");
  }
}

function exportFrom(store: ManagerStore): Export & { readonly completed: readonly ExportedMatch[] } {
  const files: Files = new Map();
  const completed: ExportedMatch[] = [];
  const { runId, seed } = readRun(store);
  const profiles = store.loadProfiles();
  const leagues = store.log.streams(leagueStream("")).flatMap((stream) => {
    const events = store.log.read(stream);
    const league = foldLeague(events.map(({ body }) => parseLeagueEvent(body)));
    if (!league) return [];
    files.set(leagueLogFile(league.leagueId), linesOf(events.map(({ body }) => body)));
    for (const match of completedMatches(league)) completed.push(addMatch(files, store, league, match, seed));
    return [{ league, logHead: headOf(events) }];
  });
  const playerIds = new Set(leagues.flatMap(({ league }) => [...league.entrants.keys()]));
  const agents = [...playerIds].map((agent_id) => {
    const events = store.log.read(agentStream(agent_id));
    files.set(agentLogFile(agent_id), linesOf(events.map(({ body }) => body)));
    return { agent_id, log_head: headOf(events) };
  });
  const areAllCompleted = leagues.every(({ league }) => league.status === "completed");
  const run: LoggedRun = {
    format: "agent-league.export.v3",
    run_id: runId,
    seed: areAllCompleted ? seed : null,
    seed_commitment: sha256Hex(seed),
    leagues: leagues.map(({ league, logHead }) => exportedLeague(league, logHead, profiles, seed)),
    agents,
  };
  files.set(RUN_FILE, canonical(LoggedRun.parse(run)));
  const unfinished = leagues.filter(({ league }) => league.status !== "completed");
  return {
    files,
    completed,
    matches: leagues.reduce((sum, { league }) => sum + league.completedCount, 0),
    unplayed: new Map(unfinished.map(({ league }) => [league.leagueId, league.matchCount - league.completedCount])),
  };
}

const headOf = (events: readonly RecordedEvent[]): string => events.at(-1)?.hash ?? GENESIS;

function exportedLeague(
  league: League,
  log_head: string,
  profiles: ReturnType<ManagerStore["loadProfiles"]>,
  runSeed: string,
): LoggedRun["leagues"][number] {
  const { leagueId: league_id, game, options, status, entrants, seedCommitment: seed_commitment } = league;
  const players = [...entrants.keys()].map((player_id) => {
    const profile = profiles.get(player_id);
    return { player_id, display_name: profile?.name ?? player_id, salt: profile?.salt ?? null };
  });
  return {
    ...{ league_id, game, options, status, players, seed_commitment, log_head },
    matches: completedMatches(league).map(({ matchId }) => matchId),
    standings: tallyOf(league)
      .standings(players.map(({ player_id, display_name }) => ({ player_id, display_name })))
      .map((row) => ({ ...row })),
    seed: status === "completed" ? leagueSeed(runSeed, league_id) : null,
  };
}

function addMatch(files: Files, store: ManagerStore, league: League, match: Match, runSeed: string): ExportedMatch {
  const { leagueId: league_id, game, options } = league;
  const { matchId: match_id, roundId: round_id, refereeId: referee_id, epoch } = match;
  const seed = seedOfMatch(leagueSeed(runSeed, league_id), league_id, match_id, epoch);
  const exported: ExportedMatch = {
    ...{ league_id, match_id, round_id, game, options, roles: rolesOf(league, match), referee_id, epoch },
    ...summaryOf(match),
    faults: [...summaryOf(match).faults],
    seed,
    log: [...(store.sessionLogOf(league_id, match_id)?.log ?? [])],
  };
  files.set(matchFile(league_id, match_id), canonical(ExportedMatch.parse(exported)));
  return exported;
}
