import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { readJson, writeJsonAtomically } from "../run/json-file.ts";

const FILE = "match.json";

/** What a run of `league match` needs besides its config to be continued. */
const Terms = z.strictObject({
  version: z.literal(1),
  mode: z.enum(["local", "wire"]),
  /** Whether the code of bot files runs in the process of the command. */
  trusted: z.boolean(),
  concurrency: z.int().min(1),
  /** The bots as the command line names them, in the order of the players. */
  bots: z.array(z.string()).min(2).readonly(),
});
export type Terms = Readonly<z.infer<typeof Terms>>;

/** Whether the folder of a run belongs to `league match`. */
export const isMatchRun = (folder: string): boolean => existsSync(join(folder, FILE));

export const writeTerms = (folder: string, terms: Terms): void => writeJsonAtomically(join(folder, FILE), terms);

/** Reads the terms of a run. Throws StartError if they cannot be read. */
export function readTerms(folder: string): Terms {
  const terms = Terms.safeParse(readJson(join(folder, FILE)));
  if (terms.success) return terms.data;
  throw new StartError(`${join(folder, FILE)} cannot be read; delete ${folder} and play the match again`, EXIT.failed);
}
