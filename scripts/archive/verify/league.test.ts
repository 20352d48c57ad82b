import { afterAll, describe, it } from "vitest";
import { RUN_FILE } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** An export of three players in which every match was played. */
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
  ["the run has another id", ({ run }) => (run.run_id = "other"), RUN_FILE, /^rps: its log belongs to another run$/],
  [
    "the seed of the league is changed",
    ({ league }) => (league.seed = "other"),
    RUN_FILE,
    /^rps: the hash of its seed is not its seed_commitment$/,
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
    expectFault(verifyForged(exports, plain, change), file, message);
  });
});
