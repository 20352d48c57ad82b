import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{shared,league-manager,referee,player,scripts}/**/*.test.ts"],
    // They need a browser: vitest.browser.config.ts.
    exclude: ["**/*.browser.test.ts"],
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
});
