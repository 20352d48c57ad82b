import { afterAll, describe, expect, it } from "vitest";
import { MAX_ABORTS } from "../../../league-manager/league/decide.ts";
import { seedOfMatch } from "../../../league-manager/league/league.ts";
import { leagueLogFile } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf, type Forgery, forfeitMatch, forfeitR1M1, indexOf } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** An export of three players in which every match was played. */
const plain = await exports.exported(plainRun);

const LOG = leagueLogFile("rps");

/** Adds `MAX_ABORTS` assignments of R1M1 that were released for this reason before the assignment in which it was played. */
const releaseTooOften = (reason: "aborted" | "overdue") => (forgery: Forgery) => {
  const { events, matches } = forgery;
  const assigned = eventOf(forgery, "match_assigned", "R1M1");
  const released = { ...assigned, type: "match_released", reason, detail: "not ended in time" };
  const epochs = Array.from({ length: MAX_ABORTS }, (_, index) => index + 1);
  for (const event of [assigned, eventOf(forgery, "match_completed", "R1M1"), matches.R1M1])
    event.epoch = MAX_ABORTS + 1;
  const discarded = epochs.flatMap((epoch) => [assigned, released].map((event) => ({ ...event, epoch })));
  events.splice(events.indexOf(assigned), 0, ...discarded);
};

const ATTEMPTS: readonly Attempt[] = [
  [
    "a match is forfeited by the manager",
    (forgery) => {
      forfeitR1M1(forgery);
      forgery.matches.R1M1.referee_id = null;
      eventOf(forgery, "match_completed", "R1M1").referee_id = null;
      forgery.events.splice(indexOf(forgery, "match_assigned", "R1M1"), 1);
    },
    LOG,
    /R1M1 is forfeited, but its players were not shut down/,
  ],
  [
    "a player is absent that was not shut down",
    (forgery) => forfeitMatch(forgery, "R1M1", "P03", 2),
    LOG,
    /P03 is absent from round 1 of rps, but neither timeouts nor the operator had shut it down/,
  ],
  [
    "a match is aborted without a log",
    (forgery) => {
      const noResult = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "" };
      Object.assign(forgery.matches.R1M1, noResult, { termination: "aborted", reason: "full", log: [] });
      const { v, at, match_id, epoch, referee_id } = eventOf(forgery, "match_completed", "R1M1");
      const aborted = { v, at, type: "match_aborted", match_id, epoch, referee_id, reason: "full", log_head: "" };
      forgery.events.splice(indexOf(forgery, "match_completed", "R1M1"), 1, aborted);
    },
    LOG,
    /the abort of R1M1 is final, but it was not aborted 2 times before/,
  ],
  ...(["aborted", "overdue"] as const).map((reason): Attempt => {
    const message = `R1M1 is released as ${reason}, but this abort must be final$`;
    return [`a match is ${reason} three times and played again`, releaseTooOften(reason), LOG, new RegExp(message)];
  }),
  [
    "a match is added after the end of the log",
    ({ events, matches, league }) => {
      const [assigned, completed] = events.filter(({ match_id }) => match_id === "R3M1");
      matches.R3M2 = { ...matches.R3M1, match_id: "R3M2" };
      league.matches.push("R3M2");
      events.push({ ...assigned, match_id: "R3M2" }, { ...completed, match_id: "R3M2" });
    },
    LOG,
    /there is no match R3M2/,
  ],
  [
    "the referee of a result is changed in the log",
    (forgery) => (eventOf(forgery, "match_completed", "R1M1").referee_id = "REF02"),
    LOG,
    /R1M1 is not assigned to REF02/,
  ],
  [
    "the epoch of a match is changed in its file and in the log",
    (forgery) => {
      forgery.matches.R1M1.epoch = 2;
      for (const event of forgery.events) if (event.match_id === "R1M1") event.epoch = 2;
    },
    LOG,
    /match_assigned of R1M1 under epoch 2, not 1/,
  ],
  [
    "a pairing is changed",
    (forgery) => eventOf(forgery, "round_paired").pairings[0].players.reverse(),
    LOG,
    /is not the round_paired that the league's rules require after started$/,
  ],
  [
    "a round is paired that the format does not have",
    (forgery) => {
      const last = forgery.events.findLastIndex(({ type }) => type === "round_paired");
      const { v, at, type } = forgery.events[last];
      forgery.events.splice(last + 1, 0, { v, at, type, round_id: 4, pairings: [], byes: ["P01", "P02", "P03"] });
    },
    LOG,
    /the format of the league does not have this round$/,
  ],
];

describe("verify rejects the log of a league in which", () => {
  it.each(ATTEMPTS)("%s", (_, change, file, message) => {
    expectFault(verifyForged(exports, plain, change), file, message);
  });
});

it("verify accepts an unchanged export", () => {
  expect(verifyForged(exports, plain, () => {})).toMatchObject({ verdict: "verified", faults: [] });
});

describe("verify accepts with an exception", () => {
  it("a match that the operator added", () => {
    const { verdict, exceptions } = verifyForged(exports, plain, (forgery) => {
      const { events, matches, league } = forgery;
      const { v, at } = events[0];
      const added = { v, at, type: "match_scheduled", match_id: "R3M2", round_id: 3, players: ["P01", "P02"] };
      events.splice(indexOf(forgery, "match_assigned", "R3M1"), 0, added);
      const end = events.splice(-2);
      const matchFields = { v, at, match_id: "R3M2", referee_id: "REF01" };
      const abort = { ...matchFields, type: "match_released", reason: "aborted", detail: "full" };
      for (const epoch of [1, 2]) events.push({ ...matchFields, type: "match_assigned", epoch }, { ...abort, epoch });
      events.push({ ...matchFields, type: "match_assigned", epoch: 3 });
      events.push({ ...matchFields, type: "match_aborted", epoch: 3, reason: "full", log_head: "" }, ...end);
      const noResult = { winner: null, final_scores: {}, match_points: {}, faults: [], log: [], log_head: "" };
      const roles = { player_1: "P01", player_2: "P02" };
      const seed = seedOfMatch(league.seed, "rps", "R3M2", 3);
      matches.R3M2 = { ...matches.R3M1, ...noResult, match_id: "R3M2", roles, epoch: 3, seed };
      Object.assign(matches.R3M2, { termination: "aborted", reason: "full" });
      league.matches.push("R3M2");
    });
    expect(verdict).toBe("verified except");
    expect(exceptions.map(({ message }) => message)).toEqual([
      "rps/R3M2 was added by the operator",
      "rps/R3M2 was aborted without a log",
    ]);
  });

  it("a truncated log, which only the published digest disproves", () => {
    const { verdict, unplayed, exceptions } = verifyForged(exports, plain, (forgery) => {
      const { events, matches, league, run } = forgery;
      events.splice(indexOf(forgery, "match_completed", "R3M1"));
      delete matches.R3M1;
      league.matches.pop();
      Object.assign(league, { status: "running", seed: null });
      run.seed = null;
    });
    expect(verdict).toBe("verified except");
    expect(exceptions).toHaveLength(1);
    expect(unplayed).toEqual(new Map([["rps", 1]]));
  });
});
