/**
 * The limit of each wait in tests. No step takes nearly as long, also on a machine that is ten times slower than usual.
 * A wait ends as soon as its condition holds, so the limit only delays the report of a test that fails.
 */
export const WAIT_MS = 300_000;

/** The limit of a test. Tests have no limits of their own. */
export const TEST_MS = 1_200_000;

/** The options of `vi.waitFor` in tests. Its default is one second. */
export const WAIT_OPTIONS = { timeout: WAIT_MS, interval: 20 };
