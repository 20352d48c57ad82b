import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Tests that start whole processes or take longer than ten seconds. `npm run test:full` runs them. */
export const SLOW_TESTS: readonly string[] = [
  "scripts/{e2e,chaos,conformance}/**/*.test.ts",
  "scripts/commands/{codenames,play,export}.test.ts",
  "scripts/archive/export/export-size.test.ts",
  "referee/codenames/{combinations,leaks}.test.ts",
  "referee/rest/adversary.test.ts",
];

/** Tests that need a browser: vitest.browser.config.ts. */
const BROWSER_TESTS = "**/*.browser.test.ts";

export const settings: ViteUserConfig = {
  test: {
    exclude: [BROWSER_TESTS],
    reporters: ["default", "./scripts/testing/closing-line.ts"],
    testTimeout: 30_000,
    // Commands under test would otherwise open their page on the developer's desktop.
    env: { MCP_DISABLE_BROWSER: "1" },
    pool: "forks",
    // Node loads the modules, as it does in production. Vite's own loader settles imports later, which changes the order of events in a simulation.
    experimental: { viteModuleRunner: false },
    // A process for each file would load the same modules two hundred times; so test files share their modules' state, and clean up after themselves.
    isolate: false,
    // One more than by default: tests of processes wait for them most of the time.
    maxWorkers: "100%",
  },
};

export default defineConfig({
  test: {
    ...settings.test,
    include: ["{shared,league-manager,referee,player,scripts}/**/*.test.ts"],
    exclude: [BROWSER_TESTS, ...SLOW_TESTS],
  },
});
