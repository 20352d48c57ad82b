import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { GENESIS, sha256Hex } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { agentStream } from "../../league-manager/agents/registered-agent.ts";
import { openMatchCount } from "../../league-manager/league/format-view.ts";
import { leagueSeed } from "../../league-manager/league/league.ts";
import {
  type Begin,
  type LlmManifest,
  type LlmRecord,
  manifestIn,
  matchRecordsIn,
  recordsFolder,
} from "../../player/llm/records.ts";
import {
  agentLogFile,
  canonical,
  completedMatches,
  ExportedMatch,
  LoggedRun,
  leagueLogFile,
  linesOf,
  llmFile,
  llmManifestFile,
  matchFile,
  RUN_FILE,
} from "./format.ts";
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
    league_id,
    game,
    options,
    status,
    players,
    seed_commitment,
    log_head,
    format,
    format_options,
    matches: completedMatches(league).map(({ matchId }) => matchId),
    standings: standingsOf(stored),
    seed: status === "completed" ? leagueSeed(runSeed, league_id) : null,
  };
}

/** Whether a record is about an exported match: the same player, role and attempt. A record can belong to an earlier run in the same data folder. */
export const isRecordOf = (match: ExportedMatch, begin: Begin): boolean =>
  match.league_id === begin.league_id &&
  match.match_id === begin.match_id &&
  match.epoch === begin.epoch &&
  match.roles[begin.role] === begin.player_id &&
  sha256Hex(match.seed) === begin.seed_commitment;

/**
 * Returns the files of an export with the records of the language models that have played in the folder of a run. Only completed matches have records
 * in it, because the prompts of others contain hidden information.
 */
function llmFilesOf(runFolder: string, completed: readonly ExportedMatch[]): ReadonlyMap<string, string> {
  const matches = new Map(completed.map((match) => [keyOf(match), match]));
  const files = new Map<string, string>();
  const root = recordsFolder(runFolder);
  for (const name of existsSync(root) ? readdirSync(root).sort() : []) {
    const folder = join(root, name);
    const exported = matchRecordsIn(folder).flatMap(({ records }) => {
      const begin = beginOf(records);
      const match = begin && matches.get(keyOf(begin));
      return begin && match && isRecordOf(match, begin) ? [{ records, begin, match }] : [];
    });
    for (const { records, begin } of exported)
      files.set(fileOf(begin), linesOf(records.map((one) => JSON.stringify(one))));
    const manifest = manifestIn(folder);
    const playerId = exported[0]?.begin.player_id;
    if (manifest === null || playerId === undefined) continue;
    const listed = exported.map(({ begin, match }) => manifestEntry(begin, match));
    files.set(llmManifestFile(playerId), canonical({ ...manifest, matches: listed }));
  }
  return files;
}

const keyOf = ({ league_id, match_id }: { readonly league_id: string; readonly match_id: string }): string =>
  JSON.stringify([league_id, match_id]);

const fileOf = ({ player_id, league_id, match_id }: Begin): string => llmFile(player_id, league_id, match_id);

const manifestEntry = (
  begin: Begin,
  { league_id, match_id, epoch, seed }: ExportedMatch,
): LlmManifest["matches"][number] => ({
  league_id,
  match_id,
  epoch,
  seed,
  file: fileOf(begin),
});

/** Returns the first line of the record of a match; null if it is missing. */
function beginOf(records: readonly LlmRecord[]): Begin | null {
  const [first] = records;
  return first?.type === "begin" ? first : null;
}
