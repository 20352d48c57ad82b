import type { HostBridge } from "./host-bridge.ts";

/** What of the host's context matters to a board; it comes whole at first, then in parts. */
export interface HostContext {
  readonly theme?: unknown;
  readonly styles?: { readonly variables?: Readonly<Record<string, unknown>> };
  readonly containerDimensions?: { readonly height?: number; readonly maxHeight?: number };
}

/** Takes on the host's theme, colours and fonts, and keeps the board within its height. */
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

/** Tells the host how large the content is, whenever that changes. */
export function reportSize(host: HostBridge): () => void {
  let told = "";
  const report = (): void => {
    const root = document.documentElement;
    // The frame may be higher than its content: what counts is what the content needs.
    const before = root.style.height;
    root.style.height = "max-content";
    const height = Math.ceil(root.getBoundingClientRect().height);
    root.style.height = before;
    const width = Math.ceil(window.innerWidth);
    if (told === `${width} ${height}`) return;
    told = `${width} ${height}`;
    host.notify("ui/notifications/size-changed", { width, height });
  };
  // In a frame of its own, or each report would be told as a loop of the observer.
  const observer = new ResizeObserver(() => requestAnimationFrame(report));
  observer.observe(document.body);
  report();
  return () => observer.disconnect();
}
