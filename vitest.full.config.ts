import { defineConfig, mergeConfig } from "vitest/config";
import { SLOW_TESTS, settings } from "./vitest.config.ts";

/** Tests of whole processes, which `npm test` leaves out because they take minutes: `npm run test:full`. */
export default mergeConfig(
  defineConfig(settings),
  // Many processes at once may be slow on a small machine; no test measures time.
  defineConfig({ test: { include: [...SLOW_TESTS], testTimeout: 120_000 } }),
);
