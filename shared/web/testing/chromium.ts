import { type Browser, chromium } from "playwright-core";
import { vi } from "vitest";
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

/** Starts Chromium. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findProgram(PATHS) ?? "/usr/bin/chromium" });
}

/** Resolves when the check no longer throws. The timeout is long, because the machine may be busy. */
export const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 15_000 });
