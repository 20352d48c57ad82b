import type { Reporter, TestModule } from "vitest/node";

/** Ends a test run with one line that any CI can read: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed++;
        else failed++;
      }
    }
    process.on("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
