import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SLOW_TESTS, settingsOf } from "./vitest.config.ts";

/**
 * The tests that `npm run mutants` names in MUTANT_TESTS, one path or pattern a line. Stryker itself runs all tests of
 * a configuration for a change that is executed when its module loads.
 */
export default defineConfig({
  test: {
    ...settingsOf("npm run mutants").test,
    include: (process.env.MUTANT_TESTS ?? "").split("\n"),
    exclude: ["**/*.browser.test.ts", ...SLOW_TESTS],
    setupFiles: [join(import.meta.dirname, "scripts/mutants/set-up.ts")],
    reporters: [],
  },
});
