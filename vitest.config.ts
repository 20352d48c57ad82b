import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{shared,league-manager,referee,player,scripts}/**/*.test.ts"],
    // They need a browser: vitest.browser.config.ts.
    exclude: ["**/*.browser.test.ts"],
    reporters: ["default", "./scripts/closing-line.ts"],
    testTimeout: 30_000,
    pool: "forks",
    // Tests of processes wait for them most of the time.
    maxWorkers: "150%",
  },
});
