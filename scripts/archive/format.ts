import "#shared/lib/schema-messages.ts";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { WireFault } from "#shared/protocol/messages.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { League, Match } from "../../league-manager/league/league.ts";

// Fields are exported in the order of these schemas. An export with another order is not sound.

/** The maximum number of players of a league. An export is untrusted input, and the schedule grows with the square of this number. */
export const MAX_PLAYERS = 1_000;

const isMatchPoints = (points: number): boolean => Object.values<number>(POINTS).includes(points);

/** A match with all data that a replay needs. */
export const ExportedMatch = z.strictObject({
  league_id: z.string(),
  match_id: z.string(),
  round_id: z.int(),
  game: z.string(),
  options: z.unknown(),
  /** Absent for a match without clocks. */
  clock: TimeControl.optional(),
  /** Player ids by role. */
  roles: z.record(z.string(), z.string()),
  referee_id: z.string().nullable(),
  epoch: z.int(),
  winner: z.string().nullable(),
  match_points: z.record(z.string(), z.number().refine(isMatchPoints, "a match gives 3, 1 or 0 points")),
  final_scores: z.record(z.string(), z.number()),
  termination: z.enum(["normal", "forfeit", "aborted"]),
  reason: z.string(),
  faults: z.array(WireFault),
  log_head: z.string(),
  /** The seed of the match in this epoch. */
  seed: z.string(),
  /** The stored texts of the entries of the session log; empty for a match that was not played. */
  log: z.array(z.string()),
  /** The session log of the result that was annulled. Absent for other matches, and in exports of earlier versions. */
  annulled_log: z.array(z.string()).optional(),
});
export type ExportedMatch = z.infer<typeof ExportedMatch>;

const league = {
  league_id: z.string(),
  game: z.string(),
  options: z.unknown(),
  /** Absent for matches without clocks. */
  clock: TimeControl.optional(),
  status: z.string(),
};
const played = {
  /** The ids of the completed matches. */
  matches: z.array(z.string()),
  standings: z.array(z.record(z.string(), z.unknown())),
};
const player = { player_id: z.string(), display_name: z.string() };
const run = {
  /** The seed of the run. It is null until every league is completed, because the seeds of later matches are derived from it. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
};

/** A league in the format of earlier versions, which exported no league log. */
export const UnloggedLeague = z.strictObject({ ...league, players: z.array(z.strictObject(player)), ...played });
export type UnloggedLeague = z.infer<typeof UnloggedLeague>;

/** In v1 a match has one seed for all its epochs, in v2 one seed for each epoch. All seeds are derived from the seed of the run. */
export const UnloggedRun = z.strictObject({
  format: z.enum(["agent-league.export.v1", "agent-league.export.v2"]),
  ...run,
  leagues: z.array(UnloggedLeague),
});
export type UnloggedRun = z.infer<typeof UnloggedRun>;

/** A league with its log. Everything except the names can be recomputed from the log and the matches. */
export const LoggedLeague = z.strictObject({
  ...league,
  ...played,
  /** The players in the order of their entry. The salt belongs to the commitment of the name; it is null if the name is erased. */
  players: z.array(z.strictObject({ ...player, salt: z.string().nullable() })),
  /** The seed of the league; null until the league is completed. */
  seed: z.string().nullable(),
  seed_commitment: z.string(),
  /** The hash of the last event of the league's log. */
  log_head: z.string(),
  /** The format and its options as in the config; absent in exports of earlier versions, which have only round robins. */
  format: z.string().optional(),
  format_options: z.record(z.string(), z.unknown()).optional(),
});
export type LoggedLeague = z.infer<typeof LoggedLeague>;

/** The content of `league.json` in the current format. */
export const LoggedRun = z.strictObject({
  format: z.literal("agent-league.export.v3"),
  run_id: z.string(),
  ...run,
  leagues: z.array(LoggedLeague),
  /** The players of the leagues, each with the hash of the last event of its log. */
  agents: z.array(z.strictObject({ agent_id: z.string(), log_head: z.string() })),
});
export type LoggedRun = z.infer<typeof LoggedRun>;

/** The content of `league.json` in any supported format. */
export const ExportedRun = z.discriminatedUnion("format", [UnloggedRun, LoggedRun]);
export type ExportedRun = z.infer<typeof ExportedRun>;

/** Returns the matches of a league that are exported, in the order of the export. */
export const completedMatches = ({ rounds }: League): readonly Match[] =>
  rounds.flatMap(({ matches }) => matches.filter(({ status }) => status === "completed"));

/** The files of an export, as paths in its folder. */
export const MANIFEST = "manifest.json";
export const SIGNATURE = "signature.json";
export const RUN_FILE = "league.json";
export const matchFile = (leagueId: string, matchId: string): string => join("matches", leagueId, `${matchId}.json`);
/** The file of a league's events: one line for each stored event. */
export const leagueLogFile = (leagueId: string): string => join("leagues", `${leagueId}.jsonl`);
/** The file of an agent's events: one line for each stored event. */
export const agentLogFile = (agentId: string): string => join("agents", `${agentId}.jsonl`);
/** The record of a match that a language model has played, one line for each prompt with its answer. */
export const llmFile = (playerId: string, leagueId: string, matchId: string): string =>
  join("llm", playerId, leagueId, `${matchId}.jsonl`);
/** The file with the settings of a language model and the seeds of its exported matches. */
export const llmManifestFile = (playerId: string): string => join("llm", playerId, MANIFEST);

/** The content of the manifest: the hashes of all other files except the signature. */
export const Manifest = z.strictObject({
  /** The SHA-256 of each file's bytes by file name, sorted by name. */
  files: z.record(z.string(), z.string()),
  /** The SHA-256 of the lines `hash  file` of all files. */
  digest: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

/** Serializes a value for an exported JSON file. There is one form only, so that equal values have equal hashes. */
export const canonical = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** Joins texts without line breaks to the text of a file with one line for each. */
export const linesOf = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join("");

/** Returns the manifest of the texts of files, which are given by file name. */
export function manifestOf(files: ReadonlyMap<string, string>): Manifest {
  const hashes = [...files]
    .map(([name, text]) => [name, sha256Hex(text)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { files: Object.fromEntries(hashes), digest: digestOf(Object.fromEntries(hashes)) };
}

/** Returns the digest of the files of a manifest, in the order of the manifest. */
export function digestOf(files: Manifest["files"]): string {
  const lines = Object.entries(files).map(([name, hash]) => `${hash}  ${name}\n`);
  return sha256Hex(lines.join(""));
}

/**
 * Writes an export and its manifest into a folder, in place of an earlier export. Returns the digest. `sign` returns the text of the signature file
 * for a digest; null writes no such file. Throws StartError if the folder contains other files, because they would become part of the export.
 */
export function writeExport(
  folder: string,
  files: ReadonlyMap<string, string>,
  sign: (digest: string) => string | null = () => null,
): string {
  const manifest = manifestOf(files);
  const signature = sign(manifest.digest);
  removeExport(folder);
  // The manifest is written first, so that an incomplete export is recognized and can be replaced.
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MANIFEST), canonical(manifest));
  const subfolders = new Set([...files.keys()].map(dirname));
  for (const subfolder of subfolders) mkdirSync(join(folder, subfolder), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  if (signature !== null) writeFileSync(join(folder, SIGNATURE), signature);
  return manifest.digest;
}

/** The entries below a folder, as paths relative to it. */
interface Contents {
  readonly files: readonly string[];
  /** Symbolic links, sockets and other entries that are neither a file nor a folder. */
  readonly others: readonly string[];
}

/**
 * Lists the entries below a folder; none if the folder does not exist. Does not follow links, because they can lead out of the folder or back into
 * it.
 */
export function contentsOf(folder: string): Contents {
  const files: string[] = [];
  const others: string[] = [];
  const unread = existsSync(folder) && statSync(folder).isDirectory() ? [""] : [];
  for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
    for (const entry of readdirSync(join(folder, next), { withFileTypes: true })) {
      const list = entry.isFile() ? files : entry.isDirectory() ? unread : others;
      list.push(join(next, entry.name));
    }
  }
  return { files, others };
}

function removeExport(folder: string): void {
  const { files, others } = contentsOf(folder);
  const known = new Set(files.includes(MANIFEST) ? listedIn(readFileSync(join(folder, MANIFEST), "utf8")) : []);
  const unknown = others[0] ?? files.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new StartError(
      `${folder} contains ${inOneLine(unknown)}, which is not part of an export: name an empty folder with --out`,
    );
  }
  for (const name of files) unlinkSync(join(folder, name));
}

/** Returns the files of an export by the text of its manifest; none if the text is not a manifest of an export. */
function listedIn(manifest: string): readonly string[] {
  try {
    return [MANIFEST, SIGNATURE, ...Object.keys(Manifest.parse(JSON.parse(manifest)).files)];
  } catch {
    return [];
  }
}
