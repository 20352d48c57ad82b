import type { KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isToken, matchRef } from "#shared/lib/ids.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { DisplayName } from "#shared/protocol/message-fields.ts";
import { foldStandings, type Standing } from "#shared/standings/standings.ts";
import { nameCommitment } from "../../../league-manager/agents/registered-agent.ts";
import { standingsOf } from "../../../league-manager/league/standings-of.ts";
import { LlmManifest, LlmRecord } from "../../../player/llm/records.ts";
import { isRecordOf } from "../export-store.ts";
import {
  agentLogFile,
  ExportedRun,
  type LoggedRun,
  leagueLogFile,
  llmFile,
  llmManifestFile,
  MANIFEST,
  RUN_FILE,
  SIGNATURE,
} from "../format.ts";
import { fingerprintOf, Signature, signingKey } from "../signature.ts";
import { checkAbsences } from "./absences.ts";
import { type CheckedLeague, type CheckedMatch, checkLogged, checkUnlogged, NO_LEAGUE_LOG } from "./league-checks.ts";
import { type AgentLog, type LeagueLog, readAgentLog, readLeagueLog } from "./league-logs.ts";
import {
  checkBytes,
  createFindings,
  type Finding,
  type Findings,
  openSource,
  readDocument,
  readLines,
  type Source,
} from "./source.ts";

type Verdict = "verified" | "verified except" | "cannot be checked" | "not sound";

/** The result of `verifyExport`. */
export interface Verified {
  readonly verdict: Verdict;
  /** Contradictions and violations of rules. */
  readonly faults: readonly Finding[];
  /** Facts that only the operator or a referee asserts, without proof in the export. */
  readonly exceptions: readonly Finding[];
  /** The number of replayed matches. */
  readonly matches: number;
  /** The names of the matches without a session log, such as `rps/R1M1`. */
  readonly withoutLog: readonly string[];
  readonly digest: string;
  /** The key of a valid signature, and whether it was compared with the expected key; null for an export without a valid signature. */
  readonly signature: { readonly fingerprint: string; readonly isChecked: boolean } | null;
  /** The standings by league id, recomputed from the matches. */
  readonly standings: ReadonlyMap<string, readonly Standing[]>;
  /** The number of matches still to be played at most, by league id. Completed leagues have no entry. */
  readonly unplayed: ReadonlyMap<string, number>;
  /** The ids of the leagues that have not started. */
  readonly notStarted: readonly string[];
  /**
   * The ids of the games of leagues that this process does not know. Their matches cannot be replayed, so that the export has no fault for this reason, and is
   * not verified either.
   */
  readonly unknownGames: readonly string[];
  /** The number of discarded assignments: the match was taken from its referee and got a new epoch. */
  readonly discarded: number;
}

/**
 * Checks an export without other data: every byte against the manifest, every session log by replay (chain, seed, commitment, rules of the game),
 * every result against its log, every seed against the seed of its league, the events of each league against its format, and the standings. If `key`
 * is given, the export must be signed with it.
 */
export function verifyExport(folder: string, key: KeyObject | null = null): Verified {
  const findings = createFindings();
  const { faults, exceptions } = findings;
  const source = openSource(folder, findings);
  const digest = checkBytes(source);
  const signature = checkSignature(source, digest, key);
  const run = readDocument(source, RUN_FILE, ExportedRun);
  const leagues = run ? checkRun(source, run) : new Map<string, CheckedLeague>();
  const standings = new Map(run?.leagues.map((league) => [league.league_id, checkStandings(source, league, leagues)]));
  const checked = [...leagues.values()].flatMap(({ matches }) => matches);
  if (run) checkUnlistedFiles(source, run, checked);
  if (run && checked.length === 0) findings.except(RUN_FILE, "nothing to verify: no match is completed");
  const unlogged = checked.filter(({ match }) => (match.annulled_log ?? match.log).length === 0);
  const unknownGames = [...new Set(run?.leagues.map(({ game }) => game))].filter((game) => !findGame(game));
  const replayed = checked.filter((one) => !unlogged.includes(one) && !unknownGames.includes(one.match.game));
  return {
    verdict: verdictOf({ faults, exceptions, unknownGames }),
    faults,
    exceptions,
    digest,
    signature,
    standings,
    matches: replayed.length,
    withoutLog: unlogged.map(({ match }) => matchRef(match.league_id, match.match_id)),
    unknownGames,
    discarded: [...leagues.values()].reduce((sum, { discarded }) => sum + discarded, 0),
    notStarted: (run?.leagues ?? []).filter(({ status }) => status === "open").map(({ league_id }) => league_id),
    unplayed: new Map(
      [...leagues].flatMap(([id, { unplayed }]) => (unplayed === null ? [] : [[id, unplayed] as const])),
    ),
  };
}

function verdictOf({
  faults,
  exceptions,
  unknownGames,
}: Pick<Verified, "faults" | "exceptions" | "unknownGames">): Verdict {
  if (faults.length > 0) return "not sound";
  if (unknownGames.length > 0) return "cannot be checked";
  return exceptions.length > 0 ? "verified except" : "verified";
}

function checkSignature(source: Source, digest: string, key: KeyObject | null): Verified["signature"] {
  const { texts, findings } = source;
  if (!texts.has(SIGNATURE)) {
    if (key) findings.blame(SIGNATURE, "is missing: the export is not signed");
    return null;
  }
  const signature = readDocument(source, SIGNATURE, Signature);
  const signedBy = signature && signingKey(signature, digest);
  if (signature && !signedBy)
    findings.blame(
      SIGNATURE,
      "is not a signature of the digest in manifest.json: the export was changed after it was signed",
    );
  if (!signedBy) return null;
  const fingerprint = fingerprintOf(signedBy);
  const isChecked = key?.equals(signedBy) ?? false;
  if (key && !isChecked) findings.blame(SIGNATURE, `was made with a key that is not the expected one: ${fingerprint}`);
  return { fingerprint, isChecked };
}

function checkRun(source: Source, run: ExportedRun): ReadonlyMap<string, CheckedLeague> {
  const { findings } = source;
  const ids = run.leagues.map(({ league_id }) => league_id);
  if (new Set(ids).size < ids.length) findings.blame(RUN_FILE, "lists a league twice");
  if (run.seed === null && run.leagues.every(({ status }) => status === "completed"))
    findings.blame(RUN_FILE, "every league is completed, but the seed of the run is missing");
  if (run.seed !== null && sha256Hex(run.seed) !== run.seed_commitment)
    findings.blame(RUN_FILE, "the hash of the run's seed is not its seed_commitment");
  if (run.format === "agent-league.export.v3") return checkLoggedRun(source, run);
  findings.except(RUN_FILE, NO_LEAGUE_LOG);
  return new Map(run.leagues.map((league) => [league.league_id, checkUnlogged(source, run, league)]));
}

function checkLoggedRun(source: Source, run: LoggedRun): ReadonlyMap<string, CheckedLeague> {
  const logs = run.leagues.map((league) => readLeagueLog(source, league));
  const agents = new Map(run.agents.map((agent) => [agent.agent_id, readAgentLog(source, agent)]));
  checkAbsences(source, agents, logs);
  checkNames(source.findings, run, agents, logs);
  const playerIds = new Set(run.leagues.flatMap(({ players }) => players.map(({ player_id }) => player_id)));
  const agentIds = run.agents.map(({ agent_id }) => agent_id);
  if (!isDeepStrictEqual(agentIds, [...playerIds]))
    source.findings.blame(RUN_FILE, "its agents are not the players of its leagues");
  return new Map(
    run.leagues.map((league, index) => [
      league.league_id,
      checkLogged(source, run, league, logs[index] as (typeof logs)[number]),
    ]),
  );
}

function checkStandings(
  { findings }: Source,
  { league_id, game, players, standings }: ExportedRun["leagues"][number],
  leagues: ReadonlyMap<string, CheckedLeague>,
): readonly Standing[] {
  const checked = leagues.get(league_id);
  const results = (checked?.matches ?? []).map(({ match }) => ({ ...match, points: match.match_points }));
  const names = players.map(({ player_id, display_name }) => ({ player_id, display_name }));
  const recomputed = checked?.league ? standingsOf(checked.league, names) : foldStandings(names, results);
  // The rules name the teams of a game, whose results the standings add up.
  if (!findGame(game)) return recomputed;
  if (!isDeepStrictEqual(standings, recomputed) && !isDeepStrictEqual(standings, withDistinctRanks(recomputed)))
    findings.blame(RUN_FILE, `the standings of ${league_id} do not follow from its matches`);
  return recomputed;
}

/** The standings as earlier versions exported them: every row has its own rank, and byes have no column. */
const withDistinctRanks = (rows: readonly Standing[]): readonly object[] =>
  rows.map(({ byes: _, ...row }, index) => ({ ...row, rank: index + 1 }));

/** Blames the files that the league file does not list. */
function checkUnlistedFiles(source: Source, run: ExportedRun, matches: readonly CheckedMatch[]): void {
  const { texts, findings } = source;
  const known = new Set([RUN_FILE, MANIFEST, SIGNATURE, ...matches.map(({ file }) => file)]);
  if (run.format === "agent-league.export.v3") {
    for (const { league_id } of run.leagues) known.add(leagueLogFile(league_id));
    for (const { agent_id } of run.agents) known.add(agentLogFile(agent_id));
    for (const file of checkLlmRecords(source, matches)) known.add(file);
  }
  for (const file of texts.keys()) {
    if (!known.has(file) && !findings.isBlamed(file)) findings.blame(file, `is not listed in ${RUN_FILE}`);
  }
}

/** Checks each name against the commitments in the registration of its player and in the player's entries into leagues. */
function checkNames(
  findings: Findings,
  run: LoggedRun,
  agents: ReadonlyMap<string, AgentLog>,
  logs: readonly LeagueLog[],
): void {
  const salts = new Map<string, string | null>();
  for (const [index, { league_id, players }] of run.leagues.entries()) {
    const entrants = logs[index]?.league?.entrants;
    if (!entrants) continue;
    for (const { player_id, display_name: name, salt } of players) {
      const label = `the name of ${player_id} in ${league_id}`;
      const commitment = entrants.get(player_id);
      if (salt === null) {
        if (name === player_id) findings.except(RUN_FILE, `${label} is erased`);
        else findings.blame(RUN_FILE, `${label} has no salt and cannot be checked`);
      } else {
        if (!isDisplayName(name)) findings.blame(RUN_FILE, `${label} is not a name that a player can register with`);
        if (!isToken(salt)) findings.blame(RUN_FILE, `${label} has a salt that is not a token`);
        if (nameCommitment({ name, salt }) !== commitment)
          findings.blame(RUN_FILE, `${label} is not the name with which the player entered: the hash differs`);
      }
      const agent = agents.get(player_id);
      if (agent && agent.steps.length > 0 && registeredName(agent) !== commitment)
        findings.blame(agent.file, `its name is not the name with which it entered ${league_id}`);
      if (salts.has(player_id) && salts.get(player_id) !== salt)
        findings.blame(RUN_FILE, `${label} has a salt that differs from that in an earlier league`);
      salts.set(player_id, salt);
    }
  }
}

/** Whether a player can register with a name. A registration removes spaces around a name. */
const isDisplayName = (name: string): boolean => DisplayName.safeParse(name).data === name;

/** Returns the commitment of the name of the last registration. Players of a league are never forgotten, so they keep this name. */
function registeredName({ steps }: AgentLog): string | null {
  const registered = steps.findLast(({ event }) => event.type === "registered")?.event;
  return registered?.type === "registered" ? registered.name_commitment : null;
}

/**
 * Checks the form of the records of language models, and that each is about the match of its name. Their content is asserted by the player. Returns
 * the names of the files that such an export can have.
 */
function checkLlmRecords(source: Source, matches: readonly CheckedMatch[]): readonly string[] {
  const { texts, findings } = source;
  const known: string[] = [];
  for (const { match } of matches) {
    for (const playerId of new Set(Object.values(match.roles))) {
      const file = llmFile(playerId, match.league_id, match.match_id);
      known.push(file);
      if (!texts.has(file)) continue;
      const records = readLines(source, file).map((line) => LlmRecord.safeParse(parsedJson(line)).data);
      const [first] = records;
      if (records.some((record) => record === undefined))
        findings.blame(file, "a line is not a record of a language model");
      else if (first?.type !== "begin" || first.player_id !== playerId || !isRecordOf(match, first))
        findings.blame(file, "is the record of another match or another player");
    }
  }
  const playerIds = new Set(matches.flatMap(({ match }) => Object.values(match.roles)));
  for (const file of [...playerIds].map(llmManifestFile)) {
    known.push(file);
    if (texts.has(file)) readDocument(source, file, LlmManifest);
  }
  return known;
}
