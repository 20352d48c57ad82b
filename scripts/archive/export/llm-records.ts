import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type LlmManifest, manifestIn, matchRecordsIn, recordsFolder } from "../../../player/llm/record-files.ts";
import type { Begin, LlmRecord } from "../../../player/llm/records.ts";
import { canonical, linesOf, llmFile, llmManifestFile } from "../files.ts";
import type { ExportedMatch } from "../format.ts";

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
export function llmFilesOf(runFolder: string, completed: readonly ExportedMatch[]): ReadonlyMap<string, string> {
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
  ...{ league_id, match_id, epoch, seed, file: fileOf(begin) },
});

/** Returns the first line of the record of a match; null if it is missing. */
function beginOf(records: readonly LlmRecord[]): Begin | null {
  const [first] = records;
  return first?.type === "begin" ? first : null;
}
