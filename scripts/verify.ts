import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf, TOO_DEEP } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { isDeeperThan } from "#shared/lib/text.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import { matchSeed } from "#shared/session/match-seed.ts";
import { faultOfUnplayed } from "../league-manager/league/result-check.ts";
import { leagueSeed } from "../league-manager/league/seeds.ts";
import type { Standing } from "../league-manager/league/standings.ts";
import {
  canonical,
  type ExportedLeague,
  ExportedMatch,
  ExportedRun,
  filesIn,
  MANIFEST,
  Manifest,
  manifestOf,
  matchFile,
  RUN_FILE,
  scheduleOf,
  seedRuleOfFormat,
  standingsOfResults,
  unplayedIn,
} from "./export.ts";

/** Something in an export that does not hold: where, and what. */
export interface VerifyFault {
  readonly file: string;
  readonly message: string;
}

export interface Verified {
  readonly faults: readonly VerifyFault[];
  /** How many matches were replayed. */
  readonly matches: number;
  readonly digest: string;
  /** Recomputed from the matches alone. */
  readonly standings: ReadonlyMap<string, readonly Standing[]>;
  /** Of each league that was not over: how many matches its players still had to play. */
  readonly unplayed: ReadonlyMap<string, number>;
}

/**
 * Checks an export from its files alone: every byte against the manifest, every log by replay (chain, seed, commitment, each
 * action by the rules), every result against its log, every match seed against the run's, and the standings anew.
 */
export function verifyExport(folder: string): Verified {
  const faults: VerifyFault[] = [];
  /** The messages of each file, each once. */
  const blamed = new Map<string, Set<string>>();
  const blame = (file: string, message: string): void => {
    const known = blamed.get(file) ?? new Set();
    if (known.has(message)) return;
    blamed.set(file, known.add(message));
    faults.push({ file, message });
  };
  const texts = new Map(filesIn(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  const digest = checkBytes(folder, texts, blame);
  const run = read(RUN_FILE, ExportedRun, texts, blame);
  const standings = new Map<string, readonly Standing[]>();
  let matches = 0;
  const listed = new Set<string>();
  if (run?.seed === null && run.leagues.every(({ status }) => status === "completed")) {
    blame(RUN_FILE, "every league is completed, and the run's seed is not told");
  }
  for (const league of run?.leagues ?? []) {
    const results: ExportedMatch[] = [];
    const playerIds = new Set(league.players.map(({ player_id }) => player_id));
    for (const matchId of league.matches) {
      const file = matchFile(league.league_id, matchId);
      if (listed.has(file)) {
        blame(RUN_FILE, `lists ${matchRef(league.league_id, matchId)} twice`);
        continue;
      }
      listed.add(file);
      const match = read(file, ExportedMatch, texts, blame);
      if (!match) continue;
      matches++;
      results.push(match);
      const isSame = match.league_id === league.league_id && match.match_id === matchId && match.game === league.game;
      if (!isSame) blame(file, `holds ${matchRef(match.league_id, match.match_id)} of ${match.game}`);
      for (const message of seedFaults(run as ExportedRun, league, match)) blame(file, message);
      if (!isDeepStrictEqual(match.options, league.options)) blame(file, "its options are not the league's");
      const strangers = Object.values(match.roles).filter((id) => !playerIds.has(id));
      for (const id of strangers) blame(file, `${id} is no player of ${league.league_id}`);
      for (const message of faultsIn(match)) blame(file, message);
    }
    for (const message of leagueSeedFaults(run as ExportedRun, league)) blame(RUN_FILE, message);
    for (const missing of missingFrom(league, results))
      blame(RUN_FILE, `${league.league_id} is completed without ${missing}`);
    const recomputed = standingsOfResults(league.players, results);
    standings.set(league.league_id, recomputed);
    if (!isDeepStrictEqual(league.standings, recomputed))
      blame(RUN_FILE, `standings of ${league.league_id} are not those of its matches`);
  }
  for (const file of texts.keys()) {
    const isKnown = file === RUN_FILE || file === MANIFEST || listed.has(file) || blamed.has(file);
    if (run && !isKnown) blame(file, `is no match of ${RUN_FILE}`);
  }
  if (run?.seed != null && sha256Hex(run.seed) !== run.seed_commitment) {
    blame(RUN_FILE, "the run's seed does not match its commitment");
  }
  return { faults, matches, digest, standings, unplayed: run ? unplayedIn(run) : new Map() };
}

/** Whether the seed of a match follows from the seed of the run, or of its league while the run's is not told. */
function seedFaults(run: ExportedRun, { league_id, seed: told }: ExportedLeague, match: ExportedMatch): string[] {
  const seedRule = seedRuleOfFormat(run);
  const ofLeague = (seed: string): string => (seedRule === "per_league" ? leagueSeed(seed, league_id) : seed);
  const seed = run.seed === null ? told : ofLeague(run.seed);
  if (seed == null || match.seed === matchSeed({ seed, seedRule }, league_id, match.match_id, match.epoch)) return [];
  return [`the seed does not follow from the ${run.seed === null ? "league" : "run"}'s`];
}

/** What does not hold of the seed of a league, which is told when the league is completed. */
function leagueSeedFaults(run: ExportedRun, { league_id, status, seed, seed_commitment }: ExportedLeague): string[] {
  if (seedRuleOfFormat(run) !== "per_league") return [];
  const faults: string[] = [];
  if (seed_commitment === undefined) faults.push(`${league_id} has no commitment of its seed`);
  if (status === "completed" && seed == null) faults.push(`${league_id} is completed, and its seed is not told`);
  if (seed == null) return faults;
  if (sha256Hex(seed) !== seed_commitment) faults.push(`the seed of ${league_id} does not match its commitment`);
  if (run.seed !== null && seed !== leagueSeed(run.seed, league_id)) {
    faults.push(`the seed of ${league_id} does not follow from the run's`);
  }
  return faults;
}

/** The scheduled matches that a completed league lacks. */
function missingFrom(league: ExportedLeague, played: readonly ExportedMatch[]): readonly string[] {
  if (league.status !== "completed") return [];
  const byId = new Map(played.toReversed().map((match) => [match.match_id, match]));
  return scheduleOf(league).flatMap(({ match_id, round_id, roles }) => {
    const found = byId.get(match_id);
    return found?.round_id === round_id && isDeepStrictEqual(found.roles, roles) ? [] : [match_id];
  });
}

type Blame = (file: string, message: string) => void;

/** Every file against the manifest, and the manifest against itself. */
function checkBytes(folder: string, texts: ReadonlyMap<string, string>, blame: Blame): string {
  const manifest = read(MANIFEST, Manifest, texts, blame);
  if (!manifest) return "";
  const found = manifestOf(new Map([...texts].filter(([name]) => name !== MANIFEST)));
  for (const name of new Set([...Object.keys(manifest.files), ...Object.keys(found.files)])) {
    if (!Object.hasOwn(found.files, name)) blame(name, "is missing");
    else if (!Object.hasOwn(manifest.files, name)) blame(name, "is not in the manifest");
    else if (manifest.files[name] !== sha256OfFile(join(folder, name)))
      blame(name, "its bytes are not those of the manifest");
  }
  const listed = Object.entries(manifest.files)
    .map(([name, hash]) => `${hash}  ${name}\n`)
    .join("");
  if (sha256Hex(listed) !== manifest.digest) blame(MANIFEST, "its digest is not that of its files");
  return manifest.digest;
}

/** Of the bytes as they are: text that is not UTF-8 would be mended by reading it. */
const sha256OfFile = (file: string): string => sha256Hex(readFileSync(file));

/** What exports hold is nested less; comparing values that are nested by thousands exceeds the stack. */
const MAX_NESTING = 100;

function read<T>(file: string, schema: z.ZodType<T>, texts: ReadonlyMap<string, string>, blame: Blame): T | null {
  const text = texts.get(file);
  if (text === undefined) {
    blame(file, "is missing");
    return null;
  }
  try {
    const value = JSON.parse(text);
    if (isDeeperThan(MAX_NESTING, value)) {
      blame(file, TOO_DEEP);
      return null;
    }
    if (canonical(value) !== text) blame(file, "is not written as it was exported");
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues.slice(0, 1)) blame(file, faultLine(issue));
  } catch (thrown) {
    blame(file, messageOf(thrown));
  }
  return null;
}

/** What does not hold between a match's log and its result. A match that nobody played has no log. */
function faultsIn(match: ExportedMatch): readonly string[] {
  if (match.log.length > 0) return faultsOfMatch(match);
  const roles = findGame(match.game)?.roles ?? Object.keys(match.roles);
  const players = roles.map((role) => match.roles[role] ?? "");
  const fault = faultOfUnplayed({ game: match.game, roles }, players, match);
  return fault === null ? [] : [fault];
}
