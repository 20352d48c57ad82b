/**
 * The options of `vi.waitFor` in tests. The timeout is much longer than any step takes on a busy machine; the default
 * is one second.
 */
export const WAIT_OPTIONS = { timeout: 20_000, interval: 20 };
