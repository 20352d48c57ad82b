import { afterAll, describe, it } from "vitest";
import { matchFile } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf, forfeitR1M1 } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** An export of three players in which every match was played. */
const plain = await exports.exported(plainRun);

const R1M1 = matchFile("rps", "R1M1");

const ATTEMPTS: readonly Attempt[] = [
  ["a match is a forfeit without a log", forfeitR1M1, R1M1, /^a result without its log$/],
  [
    "a match is added that the log does not contain",
    ({ matches, league }) => {
      matches.R3M2 = { ...matches.R3M1, match_id: "R3M2" };
      league.matches.push("R3M2");
    },
    matchFile("rps", "R3M2"),
    /^the log of the league has no result of this match$/,
  ],
  [
    "the referee of a match is changed in its file",
    ({ matches }) => (matches.R1M1.referee_id = "REF02"),
    R1M1,
    /^referee_id is "REF02", but/,
  ],
  [
    "the epoch of a match is changed in its file",
    ({ matches }) => (matches.R1M1.epoch = 2),
    R1M1,
    /^epoch is 2, but the log of the league has 1$/,
  ],
  [
    "the seed of a match is changed",
    ({ matches }) => (matches.R1M1.seed = "other"),
    R1M1,
    /^its seed does not follow from the seed of the league$/,
  ],
  [
    "the winner is changed in the file of the match",
    ({ matches }) => (matches.R1M1.winner = "P03"),
    R1M1,
    /^winner is "P03", but the log gives "P02"$/,
  ],
  [
    "the winner is changed in the file of the match and in the log",
    (forgery) => {
      const points = { winner: "P03", match_points: { P02: 0, P03: 3 } };
      Object.assign(forgery.matches.R1M1, points);
      Object.assign(eventOf(forgery, "match_completed", "R1M1"), points);
    },
    R1M1,
    /^winner is "P03", but the log gives "P02"$/,
  ],
  [
    "an action is changed",
    ({ matches }) => (matches.R1M1.log[1] = matches.R1M1.log[1].replace("rock", "paper")),
    R1M1,
    /^winner is "P02", but the log gives "P03"$|^log_head/,
  ],
];

describe("verify rejects the result of a match in which", () => {
  it.each(ATTEMPTS)("%s", (_, change, file, message) => {
    expectFault(verifyForged(exports, plain, change), file, message);
  });
});
