import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./stryker.ts";

/** A change that no test can find, because the program behaves the same with it. */
export interface Equivalent {
  readonly file: string;
  /** The line of the change without its indentation, so that an entry does not hold for a changed line. */
  readonly line: string;
  /** The text that is replaced, on one line. */
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

export const EQUIVALENT_FILE = join(import.meta.dirname, "equivalent.json");

export const readEquivalents = (): readonly Equivalent[] => JSON.parse(readFileSync(EQUIVALENT_FILE, "utf8"));

/** Returns the entry for a mutant; undefined if the file names none. */
export const equivalentOf = (mutant: Mutant, entries: readonly Equivalent[]): Equivalent | undefined =>
  entries.find(
    ({ file, line, original, replacement }) =>
      file === mutant.file &&
      line === mutant.line &&
      original === mutant.original &&
      replacement === mutant.replacement,
  );
