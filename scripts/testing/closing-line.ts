import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** The environment variable with the file to which each suite of `.ci/run` adds its duration. */
const DURATIONS_FILE = "SUITE_DURATIONS";
const SLOWEST = 10;

/**
 * Prints, after all other output of a test run, the slowest files, the durations of the suites so far, and the totals
 * as the last line: `N passed, N failed`, followed by `, N skipped` if tests were skipped.
 */
export default class ClosingLine implements Reporter {
  readonly #suite: string;

  /** `suite` is the command that runs the tests. */
  constructor({ suite }: { readonly suite: string }) {
    this.#suite = suite;
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "skipped") skipped++;
        else failed++;
      }
    }
    const totals = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    process.on("exit", () => {
      const lines = [`Slowest files of ${this.#suite}:`, ...slowest(modules), ...this.#durations(), totals];
      process.stdout.write(`${lines.join("\n")}\n`);
    });
  }

  /** Returns a line with the duration of this run, after those of the earlier suites of `.ci/run`. */
  #durations(): readonly string[] {
    const line = `Duration of ${this.#suite}: ${seconds(performance.now())}`;
    const file = process.env[DURATIONS_FILE];
    if (!file) return [line];
    const earlier = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
    appendFileSync(file, `${line}\n`);
    return [...earlier, line];
  }
}

function slowest(modules: readonly TestModule[]): readonly string[] {
  const files = modules.map((module) => {
    const { collectDuration, duration } = module.diagnostic();
    return { path: relative(process.cwd(), module.moduleId), ms: collectDuration + duration };
  });
  return files
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ path, ms }) => `  ${seconds(ms).padStart(8)}  ${path}`);
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
