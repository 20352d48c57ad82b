import { type Browser, chromium, type Page } from "playwright-core";
import { findProgram, requireProgram } from "#shared/runtime/testing/packages.ts";

/** The headless shell is Chromium without windows, and takes half the time. */
const PATHS = [
  ...(process.env.CHROMIUM ? [process.env.CHROMIUM] : []),
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Runs before all browser tests: installs Debian's headless shell of Chromium if no Chromium is there. */
export function setup(): void {
  requireProgram(PATHS, "chromium-headless-shell");
}

/** Starts Chromium with these arguments. The caller closes it. */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram(PATHS) ?? "/usr/bin/chromium", args: [...args] });
}

/**
 * Resolves when the script of a page of the manager has drawn it. Before that, the page shows the content that the server has written, and the script
 * replaces its elements.
 */
export const drawn = (page: Page): Promise<void> => page.locator("#root noscript").waitFor({ state: "detached" });
