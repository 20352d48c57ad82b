/**
 * Calls `start` while the tab is visible, and the function that it returns when the tab is hidden. Browsers allow six streams for a host, and a hidden
 * tab needs none.
 */
export function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | null = null;
  const change = (): void => {
    if (document.hidden) {
      stop?.();
      stop = null;
    } else stop ??= start();
  };
  document.addEventListener("visibilitychange", change);
  addEventListener("pagehide", change);
  change();
  return () => {
    document.removeEventListener("visibilitychange", change);
    removeEventListener("pagehide", change);
    stop?.();
  };
}
