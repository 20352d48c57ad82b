/**
 * Whether this is `npm run test:long` (vitest.long.config.ts), whose tests play their proofs as a whole. In the other suites they play a sample that has
 * every kind of case.
 */
export const isLongRun = process.env.LONG_RUN === "1";
