import { defineConfig, mergeConfig } from "vitest/config";
import { SLOW_TESTS, settingsOf } from "./vitest.config.ts";

/** Tests of whole processes. `npm run test:full` runs them; `npm test` does not, because they take minutes. */
export default mergeConfig(
  defineConfig(settingsOf("npm run test:full without the browser")),
  defineConfig({
    test: {
      include: [...SLOW_TESTS],
      globalSetup: ["./shared/store/testing/postgres-server.ts"],
    },
  }),
);
