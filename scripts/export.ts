import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { WireFault } from "#shared/protocol/messages.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import { readingStore } from "#shared/runtime/store-file.ts";
import type { SeedRule } from "#shared/session/match-seed.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import type { League } from "../league-manager/league/league.ts";
import { rolesOf, summaryOf } from "../league-manager/league/outcome.ts";
import { roundRobin } from "../league-manager/league/round-robin.ts";
import { leagueSeed, matchSeeds } from "../league-manager/league/seeds.ts";
import { foldStandings, type Standing } from "../league-manager/league/standings.ts";
import { loadState } from "../league-manager/store/load-state.ts";
import { type ManagerStore, managerStore } from "../league-manager/store/manager-store.ts";
import { keptRun } from "../league-manager/store/run-identity.ts";
import { MANAGER_SCHEMA } from "../league-manager/store/schema.ts";
import { hasFailed } from "./run-folder.ts";
import { jsonIn } from "./whole-file.ts";

const POINTS = "a match gives 3, 1 or 0 points";

/** A match as it is exported: everything that is needed to replay it elsewhere. */
export const ExportedMatch = z.strictObject({
  league_id: z.string(),
  match_id: z.string(),
  round_id: z.int(),
  game: z.string(),
  options: z.unknown(),
  /** Role to player id. */
  roles: z.record(z.string(), z.string()),
  referee_id: z.string().nullable(),
  epoch: z.int(),
  winner: z.string().nullable(),
  match_points: z.record(
    z.string(),
    z.number().refine((points) => [0, 1, 3].includes(points), POINTS),
  ),
  final_scores: z.record(z.string(), z.number()),
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason: z.string(),
  faults: z.array(WireFault),
  log_head: z.string(),
  /** By the run's seed rule (`matchSeed`), for this epoch. */
  seed: z.string(),
  /** The session's entries as they were stored, one text each. */
  log: z.array(z.string()),
});
export type ExportedMatch = z.infer<typeof ExportedMatch>;

export const ExportedLeague = z.strictObject({
  league_id: z.string(),
  game: z.string(),
  options: z.unknown(),
  status: z.string(),
  players: z.array(z.strictObject({ player_id: z.string(), display_name: z.string() })),
  matches: z.array(z.string()),
  standings: z.array(z.record(z.string(), z.unknown())),
  /** From format v3 on: the seed of the league, null until it is completed, and its SHA-256. */
  seed: z.string().nullish(),
  seed_commitment: z.string().optional(),
});
export type ExportedLeague = z.infer<typeof ExportedLeague>;

export const ExportedRun = z.strictObject({
  format: z.enum(["agent-league.export.v1", "agent-league.export.v2", "agent-league.export.v3"]),
  /** The seed of the run; null until every league is completed, because the seeds to come follow from it. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
  leagues: z.array(ExportedLeague),
});
export type ExportedRun = z.infer<typeof ExportedRun>;

/** v1: a match has one seed for all its epochs; v2: one for each; v3: the seeds of matches follow from the seed of their league. */
export const seedRuleOfFormat = ({ format }: ExportedRun): SeedRule => {
  if (format === "agent-league.export.v3") return "per_league";
  return format === "agent-league.export.v2" ? "per_epoch" : "per_match";
};

export const Manifest = z.strictObject({
  /** File to the SHA-256 of its bytes, sorted by name. */
  files: z.record(z.string(), z.string()),
  /** SHA-256 over the lines `hash  file` of all of them: one figure for the whole export. */
  digest: z.string(),
});

export const MANIFEST = "manifest.json";
export const RUN_FILE = "league.json";

/** The one form in which exported files are written: any other byte is a change. */
export const canonical = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

export const matchFile = (leagueId: string, matchId: string): string => join("matches", leagueId, `${matchId}.json`);

export function manifestOf(files: ReadonlyMap<string, string>): z.infer<typeof Manifest> {
  const hashes = [...files]
    .map(([name, text]) => [name, sha256Hex(text)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = hashes.map(([name, hash]) => `${hash}  ${name}\n`).join("");
  return { files: Object.fromEntries(hashes), digest: sha256Hex(lines) };
}

/**
 * The folder of a run or of a served league that is meant: the one named, or the newest run in a data folder.
 * StartError when there is no manager's store in it.
 */
export function findStore(folder: string): string {
  const candidates = [folder, ...runsIn(join(folder, "runs")).filter((run) => !hasFailed(run))];
  const stores = candidates.map((one) => join(one, "league-manager.sqlite")).filter(existsSync);
  const [found] = stores.toSorted((a, b) => writtenAt(b) - writtenAt(a));
  if (!found)
    throw new StartError(`no league in ${folder}: give a folder of data/runs, or the data folder itself`, EXIT.failed);
  return found;
}

/** When a store was last written, milliseconds: to the file itself or to what waits beside it. */
const writtenAt = (store: string): number =>
  Math.max(...[store, `${store}-wal`].filter(existsSync).map((file) => statSync(file).mtimeMs));

const runsIn = (folder: string): readonly string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder)
        .sort()
        .reverse()
        .map((name) => join(folder, name))
    : [];

/** The standings that match results give, by the manager's own rule. */
export const standingsOfResults = (
  players: ExportedLeague["players"],
  results: readonly Pick<ExportedMatch, "match_points" | "termination" | "winner">[],
): readonly Standing[] =>
  foldStandings(
    players,
    results.map(({ match_points, ...rest }) => ({ ...rest, points: match_points })),
  );

/** A match as its league schedules it. */
export interface Scheduled {
  readonly match_id: string;
  readonly round_id: number;
  readonly roles: Readonly<Record<string, string>>;
}

/** Every match that a league's players are to play. */
export function scheduleOf({ game, players }: ExportedLeague): readonly Scheduled[] {
  const { roles = [] } = findGame(game) ?? {};
  const ids = [...new Set(players.map(({ player_id }) => player_id))];
  if (roles.length === 0 || ids.length < roles.length) return [];
  return roundRobin(ids, roles.length).flatMap(({ round_id, pairings }) =>
    pairings.map((pairing) => ({ match_id: pairing.match_id, round_id, roles: rolesOf({ roles }, pairing) })),
  );
}

/** Of each league that was not over when it was exported: how many of its players' matches had no result. */
export const unplayedIn = (run: ExportedRun): ReadonlyMap<string, number> =>
  new Map(
    run.leagues
      .filter(({ status }) => status !== "completed")
      .map((league) => {
        const played = new Set(league.matches);
        const left = scheduleOf(league).filter(({ match_id }) => !played.has(match_id));
        return [league.league_id, left.length];
      }),
  );

/** Every file of an export, by name, from a manager's store. Throws StartError if the store or the config beside it cannot be read. */
export const exportedFiles = (storeFile: string): Promise<ReadonlyMap<string, string>> =>
  readingStore(storeFile, () => filesFrom(storeFile, readConfigBeside(storeFile)));

function filesFrom(storeFile: string, config: StoredConfig): ReadonlyMap<string, string> {
  const db = openSqlite(storeFile, MANAGER_SCHEMA);
  try {
    const store = managerStore(db);
    const { leagues, agents } = loadState(
      store,
      config.leagues.map(({ league_id }) => league_id),
    ).state;
    const { seed } = keptRun(store);
    const files = new Map<string, string>();
    const nameOf = (playerId: string): string => agents.get(playerId)?.name ?? playerId;
    const exported = [...leagues.values()].map((league) => {
      for (const [file, text] of matchFiles(store, league, seed)) files.set(file, text);
      return exportedLeague(league, nameOf, seed);
    });
    const isOver = exported.every((league) => league.status === "completed");
    const run: ExportedRun = {
      format: "agent-league.export.v3",
      seed: isOver ? seed : null,
      seed_commitment: sha256Hex(seed),
      leagues: exported,
    };
    files.set(RUN_FILE, canonical(run));
    return files;
  } finally {
    db.close();
  }
}

const completedMatches = ({ rounds }: League) =>
  rounds.flatMap(({ matches }) => matches.filter(({ status }) => status === "completed"));

function* matchFiles(store: ManagerStore, league: League, runSeed: string): Iterable<[string, string]> {
  const { leagueId, game, options } = league;
  const seedOf = matchSeeds(runSeed);
  for (const match of completedMatches(league)) {
    const { matchId, roundId, refereeId, epoch } = match;
    const exported = {
      ...{ league_id: leagueId, match_id: matchId, round_id: roundId, epoch, ...summaryOf(match), game, options },
      ...{ roles: rolesOf(league, match), referee_id: refereeId, seed: seedOf(leagueId, matchId, epoch) },
      log: store.sessionLogOf(leagueId, matchId)?.log ?? [],
    };
    yield [matchFile(leagueId, matchId), canonical(ExportedMatch.parse(exported))];
  }
}

function exportedLeague(league: League, nameOf: (playerId: string) => string, runSeed: string): ExportedLeague {
  const { leagueId: league_id, game, options, status, entrants, seedCommitment: seed_commitment } = league;
  const players = [...entrants.keys()].sort().map((player_id) => ({ player_id, display_name: nameOf(player_id) }));
  const completed = completedMatches(league);
  const matches = completed.map(({ matchId }) => matchId);
  const standings = standingsOfResults(players, completed.map(summaryOf)).map((row) => ({ ...row }));
  const seed = status === "completed" ? leagueSeed(runSeed, league_id) : null;
  return { league_id, game, options, status, players, matches, standings, seed, seed_commitment };
}

const StoredConfig = z.object({
  leagues: z.array(z.object({ league_id: z.string(), game: z.string(), options: z.record(z.string(), z.unknown()) })),
});

type StoredConfig = z.infer<typeof StoredConfig>;

function readConfigBeside(storeFile: string): StoredConfig {
  const file = ["config.json", "serve.json"].map((name) => join(dirname(storeFile), name)).find(existsSync);
  if (!file) throw new StartError(`${dirname(storeFile)} has no config.json: it was not made by league run or serve`);
  const config = StoredConfig.safeParse(jsonIn(file));
  if (!config.success)
    throw new StartError(`${file} cannot be read: it is not the config that league run or serve wrote`);
  return config.data;
}

/**
 * Writes an export and its manifest into a folder, in place of an export that is there; returns the digest.
 * StartError when there is anything else in the folder: it would be taken for part of the export.
 */
export function writeExport(folder: string, files: ReadonlyMap<string, string>): string {
  removeExport(folder);
  const manifest = manifestOf(files);
  // The manifest first: an export that was cut short can still be told from other files, and be replaced.
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MANIFEST), canonical(manifest));
  for (const below of new Set([...files.keys()].map(dirname))) mkdirSync(join(folder, below), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return manifest.digest;
}

/** The files below a folder, named from it; none where there is no folder. */
export const filesIn = (folder: string): readonly string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    : [];

function removeExport(folder: string): void {
  const found = filesIn(folder);
  const known = new Set(found.includes(MANIFEST) ? listedIn(readFileSync(join(folder, MANIFEST), "utf8")) : []);
  const stranger = found.find((name) => !known.has(name));
  if (stranger !== undefined) {
    throw new StartError(
      `${folder} holds ${inOneLine(stranger)}, which is no part of an export: name an empty folder with --out`,
    );
  }
  for (const name of found) unlinkSync(join(folder, name));
}

/** What an export's manifest lists, itself included; nothing when it is another program's. */
function listedIn(manifest: string): readonly string[] {
  try {
    return [MANIFEST, ...Object.keys(Manifest.parse(JSON.parse(manifest)).files)];
  } catch {
    return [];
  }
}
