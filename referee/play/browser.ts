import type { AgentProcess } from "#shared/runtime/agent.ts";

/** How long a page that is still open has to show itself, before another is opened. */
const LOOK_MS = 2_500;

export interface BrowserOptions {
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Whether a person started this, at a terminal or in an MCP host. */
  readonly isAttended: boolean;
}

/** Why no browser is opened; null if one may be opened. */
export function whyNoBrowser({ env, platform, isAttended }: Omit<BrowserOptions, "url">): string | null {
  if (env.MCP_DISABLE_BROWSER === "1") return "MCP_DISABLE_BROWSER=1";
  if (env.CI !== undefined && env.CI !== "" && env.CI !== "false") return "CI";
  if (!isAttended) return "not started by a person";
  const hasDisplay = platform === "win32" || platform === "darwin" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return hasDisplay ? null : "no display";
}

/**
 * Opens a page in the person's browser once, unless one is open already: a page that lost its server comes back by itself. `open`
 * rejects where there is no browser.
 */
export function openBrowser(
  options: BrowserOptions,
  self: Pick<AgentProcess, "say" | "clock">,
  open: (url: string) => Promise<void> = inBrowser,
): { visited(): void; stop(): void } {
  if (whyNoBrowser(options) !== null) return { visited: () => {}, stop: () => {} };
  const stop = self.clock.after(LOOK_MS, () => {
    open(options.url).catch(() => self.say(`open ${options.url} in a browser to watch`));
  });
  return { visited: stop, stop };
}

async function inBrowser(url: string): Promise<void> {
  const { default: open } = await import("open");
  const child = await open(url);
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}
