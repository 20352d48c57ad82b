import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";
import { LlmSettings } from "#shared/runtime/config/llm.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { type Begin, type LlmRecord, recordsIn } from "./records.ts";

/** The folder of the records of all language models below a data folder; each player has a folder in it. */
export const recordsFolder = (dataFolder: string): string => join(dataFolder, "llm");

/** The file with the settings and seeds of a player's matches. With them, the matches can be repeated as far as the model allows. */
export const LLM_MANIFEST = "manifest.json";

export const LlmManifest = z.strictObject({
  format: z.literal("agent-league.llm.v1"),
  package_version: z.string(),
  prompt_version: z.int(),
  settings: LlmSettings,
  /** The matches that have ended, with the seeds from which the numbers in the requests derive. */
  matches: z.array(
    z.strictObject({
      ...{ league_id: z.string(), match_id: z.string(), epoch: z.int(), seed: z.string(), file: z.string() },
    }),
  ),
});
export type LlmManifest = z.infer<typeof LlmManifest>;

/** Returns the name of the record of a match in the folder of its player. Each attempt at a match has another seed. */
export const recordFile = ({ league_id, match_id, seed_commitment }: Begin): string =>
  join(fileNameOf(league_id), `${fileNameOf(match_id)}-${seed_commitment.slice(0, 8)}.jsonl`);

/** Writes a manifest. It keeps the matches of the manifest that is already in the folder. */
export function addToManifest(folder: string, manifest: LlmManifest): void {
  const file = join(folder, LLM_MANIFEST);
  const known = manifestIn(folder)?.matches ?? [];
  const others = known.filter(({ file: name }) => !manifest.matches.some((match) => match.file === name));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...manifest, matches: [...others, ...manifest.matches] }, null, 2)}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function manifestIn(folder: string): LlmManifest | null {
  const file = join(folder, LLM_MANIFEST);
  return existsSync(file) ? (LlmManifest.safeParse(parsedJson(readFileSync(file, "utf8"))).data ?? null) : null;
}

/** The record of one match with its file, which is relative to the folder of its player. */
export interface MatchRecord {
  readonly file: string;
  readonly records: readonly LlmRecord[];
}

/** Returns the records in the folder of a player, sorted by file. */
export const matchRecordsIn = (folder: string): readonly MatchRecord[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".jsonl"))
        .sort()
        .map((file) => ({ file, records: recordsIn(readFileSync(join(folder, file), "utf8")) }))
    : [];
