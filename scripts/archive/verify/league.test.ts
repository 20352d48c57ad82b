import { afterAll, describe, it } from "vitest";
import { RUN_FILE } from "../files.ts";
import { type Attempt, expectFault, forged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** Three players; every match is played. */
const plain = await exports.exported(plainRun);

const ATTEMPTS: readonly Attempt[] = [
  [
    "a match is missing and the league is running",
    ({ matches, league }) => {
      delete matches.R3M1;
      league.matches.pop();
      league.status = "running";
    },
    RUN_FILE,
    /^rps: its field matches differs from its log$/,
  ],
  [
    "the order of the matches is changed",
    ({ league }) => league.matches.reverse(),
    RUN_FILE,
    /^rps: its field matches differs from its log$/,
  ],
  [
    "the order of the players is changed",
    ({ league }) => league.players.reverse(),
    RUN_FILE,
    /^rps: its field players differs from its log$/,
  ],
  [
    "the options are changed",
    ({ league }) => (league.options.best_of = 3),
    RUN_FILE,
    /^rps: its field options differs from its log$/,
  ],
  [
    "the roles are changed",
    (forgery) => eventOf(forgery, "opened").roles.reverse(),
    RUN_FILE,
    /^rps: its roles are not those of/,
  ],
  ["the run is another", ({ run }) => (run.run_id = "other"), RUN_FILE, /^rps: its log is of another run$/],
  [
    "the seed of the league is changed",
    ({ league }) => (league.seed = "other"),
    RUN_FILE,
    /^rps: its seed is not the one whose hash is its seed_commitment$/,
  ],
  [
    "the seed of a completed league is missing",
    ({ league }) => (league.seed = null),
    RUN_FILE,
    /^rps: it is completed, but its seed is missing$/,
  ],
];

describe("verify rejects a league in which", () => {
  it.each(ATTEMPTS)("%s", (_, change, file, message) => {
    expectFault(forged(exports, plain, change), file, message);
  });
});
