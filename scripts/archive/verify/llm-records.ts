import { parsedJson } from "#shared/lib/text.ts";
import { LlmManifest } from "../../../player/llm/record-files.ts";
import { LlmRecord } from "../../../player/llm/records.ts";
import { isRecordOf } from "../export/llm-records.ts";
import { llmFile, llmManifestFile } from "../files.ts";
import type { CheckedMatch } from "./match.ts";
import { readDocument, readLines, type Source } from "./source.ts";

/**
 * Checks the form of the records of language models, and that each is about the match of its name. Their content is asserted by the player. Returns
 * the names of the files that such an export can have.
 */
export function checkLlmRecords(source: Source, matches: readonly CheckedMatch[]): readonly string[] {
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
