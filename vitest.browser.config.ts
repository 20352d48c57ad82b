import { defineConfig } from "vitest/config";
import { TEST_MS, WAIT_MS } from "./shared/lib/testing/wait-options.ts";
import { reportersOf } from "./vitest.config.ts";

/** Tests in a real Chromium. `npm run test:browser` runs them. */
export default defineConfig({
  test: {
    include: ["{shared,league-manager,referee,player,scripts}/**/*.browser.test.ts"],
    globalSetup: ["./shared/web/testing/chromium.ts", "./shared/web/testing/firefox.ts"],
    reporters: reportersOf("npm run test:browser"),
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    // A state of a page that comes after an asynchronous change is awaited with `expect.poll`.
    expect: { poll: { timeout: WAIT_MS } },
    pool: "forks",
    // One worker more than by default, because the tests wait for processes most of the time.
    maxWorkers: "100%",
  },
});
