import { defineConfig } from "vitest/config";

/** Tests in a real Chromium. `npm run test:browser` runs them. */
export default defineConfig({
  test: {
    include: ["{shared,league-manager,referee,player,scripts}/**/*.browser.test.ts"],
    globalSetup: ["./shared/web/testing/chromium.ts", "./shared/web/testing/firefox.ts"],
    reporters: ["default", "./scripts/testing/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A state of a page that comes after an asynchronous change is awaited with `expect.poll`. The timeout is long, because the machine may be busy.
    expect: { poll: { timeout: 30_000 } },
    pool: "forks",
    // One worker more than by default, because the tests wait for processes most of the time.
    maxWorkers: "100%",
  },
});
