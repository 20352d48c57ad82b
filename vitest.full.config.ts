import { defineConfig, mergeConfig } from "vitest/config";
import { SLOW_TESTS, settings } from "./vitest.config.ts";

/** Tests of whole processes. `npm run test:full` runs them; `npm test` does not, because they take minutes. */
export default mergeConfig(
  defineConfig(settings),
  // The timeout is long because concurrent processes are slow on a small machine.
  defineConfig({
    test: {
      include: [...SLOW_TESTS],
      globalSetup: ["./shared/store/testing/postgres-server.ts"],
      testTimeout: 120_000,
      hookTimeout: 60_000,
    },
  }),
);
