import type { Reporter, TestModule } from "vitest/node";

/** Prints the totals of a test run as its last line: `N passed, N failed`, followed by `, N skipped` if tests were skipped. */
export default class ClosingLine implements Reporter {
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
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`;
    process.on("exit", () => process.stdout.write(line));
  }
}
