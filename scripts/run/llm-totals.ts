import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type LlmTotals,
  manifestIn,
  matchRecordsIn,
  recordsFolder,
  totalsLine,
  totalsOf,
} from "../../player/llm/records.ts";

/** The totals of a language model that has played in a run. */
interface LlmPlayerTotals {
  readonly player: string;
  readonly model: string;
  readonly totals: LlmTotals;
}

/** Returns the totals of the language models whose records are in a data folder, sorted by player. */
export function llmTotals(dataFolder: string): readonly LlmPlayerTotals[] {
  const root = recordsFolder(dataFolder);
  const names = existsSync(root) ? readdirSync(root).sort() : [];
  return names.map((name) => {
    const folder = join(root, name);
    const totals = totalsOf(matchRecordsIn(folder).flatMap(({ records }) => records));
    return { player: decodeURIComponent(name), model: manifestIn(folder)?.settings.model ?? "", totals };
  });
}

/** Returns a line for each language model. */
export const llmLines = (dataFolder: string): readonly string[] =>
  llmTotals(dataFolder).map(({ player, model, totals }) => `${player} (${model}): ${totalsLine(totals)}`);
