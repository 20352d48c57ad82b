import { defineConfig } from "vitest/config";

/** Tests in a real Chromium. `npm run test:browser` runs them. */
export default defineConfig({
  test: {
    include: ["{shared,league-manager,referee,player,scripts}/**/*.browser.test.ts"],
    globalSetup: ["./shared/web/testing/chromium.ts", "./shared/web/testing/firefox.ts"],
    reporters: ["default", "./scripts/testing/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
});
