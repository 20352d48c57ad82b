import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { vi } from "vitest";

const INSTALL = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"] as const;
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Before all browser tests: Debian's Chromium is there, or whoever runs them is told the one command that brings it. */
export function setup(): void {
  if (findChromium()) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error("The browser tests need Chromium: sudo apt-get install -y chromium");
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-q"], { env, stdio: ["ignore", "ignore", "inherit"] });
  execFileSync(INSTALL[0], INSTALL.slice(1), { env, stdio: ["ignore", "ignore", "inherit"] });
}

const findChromium = (): string | undefined =>
  [process.env.CHROMIUM ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));

/** To be closed by who asks for it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? PLACES[0] ?? "" });
}

/** Resolves when the check no longer fails; a busy machine may need a while. */
export const eventually = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 15_000 });
