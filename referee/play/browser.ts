import type { AgentProcess } from "#shared/runtime/agent.ts";

/** The time in which a page that is still open can request the server, before another one is opened. */
const RECONNECT_MS = 2_500;

export interface BrowserOptions {
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Whether a person has started this process, at a terminal or in an MCP host. */
  readonly isAttended: boolean;
}

/** The reason why no browser is opened; null if one may be opened. */
export function browserObstacle({ env, platform, isAttended }: Omit<BrowserOptions, "url">): string | null {
  if (env.MCP_DISABLE_BROWSER === "1") return "MCP_DISABLE_BROWSER=1";
  if (env.CI !== undefined && env.CI !== "" && env.CI !== "false") return "CI";
  if (!isAttended) return "not started by a person";
  const hasDisplay = platform === "win32" || platform === "darwin" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return hasDisplay ? null : "no display";
}

/**
 * Opens a page in the browser of the user once, after a pause, unless `visited` is called first: a page that is still open reconnects by
 * itself. `open` rejects if there is no browser; then the URL is shown.
 */
export function openBrowser(
  options: BrowserOptions,
  self: Pick<AgentProcess, "say" | "clock">,
  open: (url: string) => Promise<void> = openInBrowser,
): { visited(): void; stop(): void } {
  if (browserObstacle(options) !== null) return { visited: () => {}, stop: () => {} };
  const stop = self.clock.after(RECONNECT_MS, () => {
    open(options.url).catch(() => self.say(`open ${options.url} in a browser to watch`));
  });
  return { visited: stop, stop };
}

/** Opens a page in the browser of the user. Rejects if there is no browser. */
export async function openInBrowser(url: string): Promise<void> {
  const { default: open } = await import("open");
  const child = await open(url);
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}
