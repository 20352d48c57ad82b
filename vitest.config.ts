import { defineConfig, type ViteUserConfig } from "vitest/config";
import { TEST_MS, WAIT_MS } from "./shared/lib/testing/wait-options.ts";

/** Tests that start whole processes or take several seconds. `npm run test:full` runs them. */
export const SLOW_TESTS: readonly string[] = [
  "scripts/{e2e,chaos,conformance,bench}/**/*.test.ts",
  "scripts/commands/{codenames,play,export}.test.ts",
  "scripts/commands/check-game.test.ts",
  "scripts/golden/golden.test.ts",
  "shared/games/chess/pgn-extract.test.ts",
  "scripts/archive/export-size.test.ts",
  "league-manager/start/several-managers.test.ts",
  "league-manager/effects/{restart-message-ids,endpoint-check-file-shortage}.test.ts",
  "league-manager/api/many-referees.test.ts",
  "league-manager/absent-agents.test.ts",
  "player/bots/{alphabeta,strength}.test.ts",
  "player/isolation/*.test.ts",
  "player/network.test.ts",
  "player/engines/{real-engines,uci-bot}.test.ts",
  "player/loaders/{lines,line-commands,load-bot,many-matches,program-start}.test.ts",
  "referee/codenames/{combinations,custom-words,interrupted-calls,key-secrecy}.test.ts",
  "referee/match/slow-referee.test.ts",
  "referee/play/official-clients.test.ts",
  "referee/play/game-routes.test.ts",
  "referee/rest/{adversary,concurrency}.test.ts",
  "scripts/examples/hand-written-player.test.ts",
  "scripts/hidden-information/*.test.ts",
  "scripts/match/local/{local-bots,wire}.test.ts",
  "scripts/run/run.test.ts",
  "scripts/simulation/simulate.test.ts",
  "scripts/cluster/cpu-meter.test.ts",
  "scripts/mutants/mutants.test.ts",
  "shared/statistics/{coverage,sprt-errors}.test.ts",
  "{shared,league-manager,referee,player,scripts}/**/*.postgres.test.ts",
];

/** Tests that need a browser. `npm run test:browser` runs them. */
const BROWSER_TESTS = "**/*.browser.test.ts";

/** The complete long proofs. `npm run test:long` runs them. */
export const LONG_TESTS = "scripts/long-proofs.test.ts";

/** Tests that play a sample of their cases, and all of them in `npm run test:long` (shared/lib/testing/long-run.ts). */
export const SAMPLED_TESTS: readonly string[] = [
  "player/bots/alphabeta.test.ts",
  "referee/rest/adversary.test.ts",
  "scripts/e2e/commands/check.test.ts",
  "scripts/golden/golden.test.ts",
  "scripts/hidden-information/*.test.ts",
  "scripts/simulation/simulate.test.ts",
];

/** The output of a test run: that of vitest, and the durations and totals of the suite, which is named by its command. */
export const reportersOf = (suite: string): NonNullable<NonNullable<ViteUserConfig["test"]>["reporters"]> => [
  "default",
  ["./scripts/testing/closing-line.ts", { suite }],
];

/** The settings of a suite, which is named by its command. */
export const settingsOf = (suite: string): ViteUserConfig => ({
  test: {
    exclude: [BROWSER_TESTS],
    reporters: reportersOf(suite),
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    expect: { poll: { timeout: WAIT_MS } },
    // Commands under test must not open pages on the developer's desktop.
    env: { MCP_DISABLE_BROWSER: "1" },
    pool: "forks",
    // Node loads the modules, as in production. The module runner of Vite resolves imports later, which changes the order of events in simulations.
    experimental: { viteModuleRunner: false },
    // Test files of a worker share the loaded modules, because loading them for each file is slow. A test file must therefore restore the module state that it changes.
    isolate: false,
    // One worker more than by default, because tests of processes wait most of the time.
    maxWorkers: "100%",
  },
});

export default defineConfig({
  test: {
    ...settingsOf("npm test").test,
    include: ["{shared,league-manager,referee,player,scripts}/**/*.test.ts"],
    exclude: [BROWSER_TESTS, LONG_TESTS, ...SLOW_TESTS],
  },
});
