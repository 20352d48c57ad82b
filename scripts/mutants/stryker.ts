import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { LogLevel, MutantResult } from "@stryker-mutator/api/core";
import { Stryker } from "@stryker-mutator/core";

/** A change of one operator, condition or block, and what the tests say about it. */
export interface Mutant {
  /** The path of the changed file from the project folder. */
  readonly file: string;
  /** The line and the column of the change, from 1. */
  readonly place: string;
  /** The changed text as Stryker names it: `line:column-line:column`, with lines from 1 and columns from 0. */
  readonly range: string;
  /** The first changed line without its indentation. */
  readonly line: string;
  /** The replaced text, on one line. */
  readonly original: string;
  /** The text instead of it, on one line. */
  readonly replacement: string;
  readonly outcome: "killed" | "survived";
}

/** The places and tests of a run. */
export interface Run {
  /** The files to change, each with an optional place: `FILE:FROM-TO`. */
  readonly mutate: readonly string[];
  /** The tests, as paths or patterns. */
  readonly tests: readonly string[];
  readonly workers: number;
}

/**
 * Kinds of changes that are not made. A changed text, an object without fields and an empty function are almost always
 * texts for people, or errors of types that `npm run check` finds.
 */
const EXCLUDED = ["StringLiteral", "ObjectLiteral", "ArrayDeclaration", "ArrowFunction", "Regex"];

/** A mutant whose tests run this much longer than without it is in an infinite loop, and counts as killed. */
const TIMEOUT_MS = 20_000;

/** Changes a copy of the project in the current folder, one place at a time, and runs the tests with each change. */
export async function runStryker({ mutate, tests, workers }: Run): Promise<readonly Mutant[]> {
  process.env.MUTANT_TESTS = tests.join("\n");
  const stryker = new Stryker({
    mutate: [...mutate],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    // The copy is outside of the project, so that an interrupted run leaves nothing in it.
    tempDirName: join(tmpdir(), `agent-league-mutants-${process.pid}`),
    cleanTempDir: "always",
    ignorePatterns: ["data", "data-*", "dist", "coverage"],
    // Stryker would adapt the references in this file, with an API that TypeScript 7 does not have. It has none.
    tsconfigFile: "none",
    // Node loads the modules, so Vite does not know which tests are related to a file.
    vitest: { configFile: join(import.meta.dirname, "../../vitest.mutants.config.ts"), pool: "forks", related: false },
    mutator: { excludedMutations: EXCLUDED },
    coverageAnalysis: "perTest",
    concurrency: workers,
    timeoutMS: TIMEOUT_MS,
    reporters: ["progress-append-only"],
    // The values of this enum exist only as types.
    logLevel: "warn" as string as LogLevel,
    warnings: false,
  });
  const results = await stryker.runMutationTest();
  return results.filter(({ status }) => status !== "Ignored").map(mutantOf);
}

function mutantOf({ fileName, location: { start, end }, replacement, status }: MutantResult): Mutant {
  const lines = readFileSync(fileName, "utf8").split("\n");
  const changed = lines.slice(start.line - 1, end.line);
  const last = changed.length - 1;
  const original = changed
    .map((line, i) => line.slice(i === 0 ? start.column - 1 : 0, i === last ? end.column - 1 : undefined))
    .join("\n");
  return {
    file: relative(process.cwd(), fileName),
    place: `${start.line}:${start.column}`,
    range: `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`,
    line: changed[0]?.trim() ?? "",
    original: onOneLine(original),
    replacement: onOneLine(replacement ?? ""),
    outcome: status === "Survived" || status === "NoCoverage" ? "survived" : "killed",
  };
}

const onOneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** A change that no test can find, because the program behaves the same with it. */
interface Equivalent {
  readonly file: string;
  /** The line of the change without its indentation, so that an entry does not hold for a changed line. */
  readonly line: string;
  /** The text that is replaced, on one line. */
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

const EQUIVALENT_FILE = join(import.meta.dirname, "equivalent.json");

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
