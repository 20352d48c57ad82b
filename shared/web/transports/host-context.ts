import type { HostBridge } from "./host-bridge.ts";

/** The parts of the host's context that a board uses. The first context is complete, later ones contain changes. */
export interface HostContext {
  readonly theme?: unknown;
  readonly styles?: { readonly variables?: Readonly<Record<string, unknown>> };
  readonly containerDimensions?: { readonly height?: number; readonly maxHeight?: number };
}

/** Applies the host's theme, colours and fonts, and limits the board to the host's height. */
export function applyHostContext({ theme, styles, containerDimensions }: HostContext): void {
  const root = document.documentElement;
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
    root.style.colorScheme = theme;
  }
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
  }
  const height = containerDimensions?.height ?? containerDimensions?.maxHeight;
  if (typeof height === "number") root.style.setProperty("--height", `${height}px`);
}

/**
 * Reports the size of the content to the host, initially and after each change. Returns a function that ends the
 * reports.
 */
export function reportSize(host: HostBridge): () => void {
  let reportedSize = "";
  const report = (): void => {
    const root = document.documentElement;
    // The frame may be higher than its content; the height of the content is reported.
    const previousHeight = root.style.height;
    root.style.height = "max-content";
    const height = Math.ceil(root.getBoundingClientRect().height);
    root.style.height = previousHeight;
    const width = Math.ceil(window.innerWidth);
    if (reportedSize === `${width} ${height}`) return;
    reportedSize = `${width} ${height}`;
    host.notify("ui/notifications/size-changed", { width, height });
  };
  // In an animation frame, because the observer would otherwise report each change as a loop.
  const observer = new ResizeObserver(() => requestAnimationFrame(report));
  observer.observe(document.body);
  report();
  return () => observer.disconnect();
}
