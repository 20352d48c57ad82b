import { defineConfig, mergeConfig } from "vitest/config";
import { LONG_TESTS, SAMPLED_TESTS, settingsOf } from "./vitest.config.ts";

/** The complete long proofs. `npm run test:long` plays them for hours; the other suites play samples of them. */
export default mergeConfig(
  defineConfig(settingsOf("npm run test:long")),
  defineConfig({
    test: {
      include: [LONG_TESTS, ...SAMPLED_TESTS],
      env: { LONG_RUN: "1" },
      globalSetup: ["./shared/store/testing/postgres-server.ts"],
      // Each proof uses all processors.
      maxWorkers: 1,
      testTimeout: 0,
    },
  }),
);
