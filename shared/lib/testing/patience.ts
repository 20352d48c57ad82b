/** The options of `vi.waitFor` in tests: much longer than any step takes on a busy machine. By default vitest gives up after one second. */
export const PATIENCE = { timeout: 20_000, interval: 20 };
