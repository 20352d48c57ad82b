import { dirname } from "node:path";
import { GENESIS, sha256Hex } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { agentStream } from "../../../league-manager/agents/registered-agent.ts";
import { openMatchCount } from "../../../league-manager/league/format-view.ts";
import { leagueSeed } from "../../../league-manager/league/league.ts";
import { agentLogFile, canonical, leagueLogFile, linesOf, matchFile, RUN_FILE } from "../files.ts";
import { completedMatches, ExportedMatch, LoggedRun } from "../format.ts";
import { llmFilesOf } from "./llm-records.ts";
import {
  exportedMatch,
  readingDatabase,
  readingRun,
  type StoredLeague,
  type StoredRun,
  standingsOf,
} from "./stored-run.ts";

/** The content of an export. */
export interface Export {
  /** The texts of the files, by file name. */
  readonly files: ReadonlyMap<string, string>;
  /** The number of completed matches. */
  readonly matches: number;
  /** The number of matches still to be played at most, by league id. Completed leagues have no entry. */
  readonly unplayed: ReadonlyMap<string, number>;
  /** The ids of the leagues that have not started. */
  readonly notStarted: readonly string[];
}

/** Returns the content of an export of a manager's store. Rejects with StartError if the store cannot be read. */
export async function exportOf(storeFile: string): Promise<Export> {
  const exported = await readingRun(storeFile, exportFrom);
  const records = llmFilesOf(dirname(storeFile), exported.completed);
  return { ...exported, files: new Map([...exported.files, ...records]) };
}

/** Returns the content of an export of a PostgreSQL database, without the records of language models. Rejects with StartError if it cannot be read. */
export const exportOfDatabase = (url: string): Promise<Export> => readingDatabase(url, exportFrom);

async function exportFrom(run: StoredRun): Promise<Export & { readonly completed: readonly ExportedMatch[] }> {
  const { store, runId, seed, leagues } = run;
  const files = new Map<string, string>();
  const completed: ExportedMatch[] = [];
  const exportedLeagues: LoggedRun["leagues"] = [];
  for (const stored of leagues) {
    const { league } = stored;
    const events = await stored.events();
    files.set(leagueLogFile(league.leagueId), linesOf(events.map(({ body }) => body)));
    for (const match of completedMatches(league)) {
      const exported = await exportedMatch(run, league, match);
      files.set(matchFile(league.leagueId, match.matchId), canonical(ExportedMatch.parse(exported)));
      completed.push(exported);
    }
    exportedLeagues.push(exportedLeague(stored, headOf(events), seed));
  }
  const playerIds = new Set(leagues.flatMap(({ league }) => [...league.entrants.keys()]));
  const agents: LoggedRun["agents"] = [];
  for (const agent_id of playerIds) {
    const events = await store.readEvents(agentStream(agent_id));
    files.set(agentLogFile(agent_id), linesOf(events.map(({ body }) => body)));
    agents.push({ agent_id, log_head: headOf(events) });
  }
  const areAllCompleted = leagues.every(({ league }) => league.status === "completed");
  const exportedRun: LoggedRun = {
    format: "agent-league.export.v3",
    run_id: runId,
    seed: areAllCompleted ? seed : null,
    seed_commitment: sha256Hex(seed),
    leagues: exportedLeagues,
    agents,
  };
  files.set(RUN_FILE, canonical(LoggedRun.parse(exportedRun)));
  const unfinished = leagues.filter(({ league }) => league.status !== "completed");
  return {
    files,
    completed,
    matches: leagues.reduce((sum, { league }) => sum + league.completedCount, 0),
    unplayed: new Map(unfinished.map(({ league }) => [league.leagueId, openMatchCount(league)])),
    notStarted: leagues.filter(({ league }) => league.status === "open").map(({ league }) => league.leagueId),
  };
}

const headOf = (events: readonly RecordedEvent[]): string => events.at(-1)?.hash ?? GENESIS;

function exportedLeague(stored: StoredLeague, log_head: string, runSeed: string): LoggedRun["leagues"][number] {
  const { league, players } = stored;
  const { leagueId: league_id, game, options, clock, status, seedCommitment: seed_commitment } = league;
  const { format, formatOptions: format_options } = league;
  return {
    ...(clock && { clock }),
    ...{ league_id, game, options, status, players, seed_commitment, log_head, format, format_options },
    matches: completedMatches(league).map(({ matchId }) => matchId),
    standings: standingsOf(stored),
    seed: status === "completed" ? leagueSeed(runSeed, league_id) : null,
  };
}
