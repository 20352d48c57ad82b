import type { AgentProcess } from "#shared/runtime/agent.ts";

/** How long a page that is still open has to show itself, before another is opened. */
const LOOK_MS = 2_500;

export interface BrowserOptions {
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Whether a person started this at a terminal. */
  readonly isTerminal: boolean;
}

/** Why no browser is to be opened; null when one is (chess-tools.md, section 7). */
export function whyNoBrowser({ env, platform, isTerminal }: Omit<BrowserOptions, "url">): string | null {
  if (env.MCP_DISABLE_BROWSER === "1") return "MCP_DISABLE_BROWSER=1";
  if (env.CI !== undefined && env.CI !== "" && env.CI !== "false") return "CI";
  if (!isTerminal) return "no terminal";
  const hasDisplay = platform === "win32" || platform === "darwin" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return hasDisplay ? null : "no display";
}

/** Opens a page in the person's browser once, unless one is open already: a page that lost its server comes back by itself. */
export function openBrowser(options: BrowserOptions, self: AgentProcess): { visited(): void; stop(): void } {
  if (whyNoBrowser(options) !== null) return { visited: () => {}, stop: () => {} };
  const opening = setTimeout(async () => {
    try {
      const { default: open } = await import("open");
      const child = await open(options.url);
      child.once("error", () => self.say(`open ${options.url} in a browser to watch`));
    } catch {
      self.say(`open ${options.url} in a browser to watch`);
    }
  }, LOOK_MS);
  const stop = (): void => clearTimeout(opening);
  return { visited: stop, stop };
}
