/** Forgers who make everything else fit again: the manifest, the chains of the logs and the standings. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_ABORTS } from "../../../league-manager/league/report.ts";
import { seedOfMatch } from "../../../league-manager/league/seeds.ts";
import { leagueLogFile, matchFile, RUN_FILE } from "../files.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { type Forgery, forfeit, forfeitedResult, forgeRun, type Json } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

let exports: TestExports;
/** Three players; every match is played. */
let plain: string;
beforeAll(async () => {
  exports = testExports();
  plain = await exports.exported(plainRun);
});
afterAll(() => exports.remove());

function forged(folder: string, change: (forgery: Forgery) => void) {
  const copy = exports.copyOf(folder);
  forgeRun(copy, change);
  return verifyExport(copy);
}

const LOG = leagueLogFile("rps");
const R1M1 = matchFile("rps", "R1M1");
const eventOf = ({ events }: Forgery, type: string, matchId?: string): Json =>
  events.find((event) => event.type === type && (matchId === undefined || event.match_id === matchId));
const indexOf = (forgery: Forgery, type: string, matchId?: string): number =>
  forgery.events.indexOf(eventOf(forgery, type, matchId));

/** R1M1 as a forfeit of P03 without a session log, in its file and in the log of the league. */
function forfeitR1M1(forgery: Forgery): void {
  const result = forfeitedResult(forgery, "R1M1", "P03");
  Object.assign(forgery.matches.R1M1, result, { log: [] });
  Object.assign(eventOf(forgery, "match_completed", "R1M1"), result);
}

/** R1M1 as released for this reason in its first `MAX_ABORTS` assignments, before the one in which it was played. */
const releasedTooOften = (reason: "aborted" | "overdue") => (forgery: Forgery) => {
  const { events, matches } = forgery;
  const assigned = eventOf(forgery, "match_assigned", "R1M1");
  const released = { ...assigned, type: "match_released", reason, detail: "not ended in time" };
  const epochs = Array.from({ length: MAX_ABORTS }, (_, index) => index + 1);
  for (const event of [assigned, eventOf(forgery, "match_completed", "R1M1"), matches.R1M1])
    event.epoch = MAX_ABORTS + 1;
  const discarded = epochs.flatMap((epoch) => [assigned, released].map((event) => ({ ...event, epoch })));
  events.splice(events.indexOf(assigned), 0, ...discarded);
};

type Attempt = readonly [what: string, change: (forgery: Forgery) => void, file: string, message: RegExp];
const FORGERIES: readonly Attempt[] = [
  ["turns a match into a forfeit without a log", forfeitR1M1, R1M1, /^a result without its log$/],
  [
    "turns a match into a forfeit by the manager",
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
    "lets a player be absent that was not shut down",
    (forgery) => forfeit(forgery, "R1M1", "P03", 2),
    LOG,
    /P03 is absent from round 1 of rps, but neither timeouts nor the operator had shut it down/,
  ],
  [
    "turns a match into an abort without a log",
    (forgery) => {
      const nothing = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "" };
      Object.assign(forgery.matches.R1M1, nothing, { termination: "aborted", reason: "full", log: [] });
      const { v, at, match_id, epoch, referee_id } = eventOf(forgery, "match_completed", "R1M1");
      const aborted = { v, at, type: "match_aborted", match_id, epoch, referee_id, reason: "full", log_head: "" };
      forgery.events.splice(indexOf(forgery, "match_completed", "R1M1"), 1, aborted);
    },
    LOG,
    /R1M1 is aborted for good before it was aborted 2 times/,
  ],
  ...(["aborted", "overdue"] as const).map((reason): Attempt => {
    const message = `R1M1 is released as ${reason}, but this abort had to be final$`;
    return [`plays a match again that is ${reason} too often`, releasedTooOften(reason), LOG, new RegExp(message)];
  }),
  [
    "adds a match with its file alone",
    ({ matches, league }) => {
      matches.R3M2 = { ...matches.R3M1, match_id: "R3M2" };
      league.matches.push("R3M2");
    },
    matchFile("rps", "R3M2"),
    /^the log of the league has no result of it$/,
  ],
  [
    "adds a match behind the end of the log",
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
    "swaps two names with their salts",
    ({ league }) => {
      const [a, b] = league.players;
      league.players = [{ ...b, player_id: a.player_id }, { ...a, player_id: b.player_id }, league.players[2]];
    },
    RUN_FILE,
    /^the name of P01 in rps is not the one with which it entered the league: the hash differs$/,
  ],
  [
    "tells a name without its salt",
    ({ league }) => Object.assign(league.players[0], { display_name: "Zoe", salt: null }),
    RUN_FILE,
    /^the name of P01 in rps has no salt and cannot be checked$/,
  ],
  [
    "changes the referee of a match",
    ({ matches }) => (matches.R1M1.referee_id = "REF02"),
    R1M1,
    /^referee_id is "REF02", but/,
  ],
  [
    "changes the referee of a result",
    (forgery) => (eventOf(forgery, "match_completed", "R1M1").referee_id = "REF02"),
    LOG,
    /R1M1 is not assigned to REF02/,
  ],
  [
    "changes the epoch of a match",
    ({ matches }) => (matches.R1M1.epoch = 2),
    R1M1,
    /^epoch is 2, but the log of the league has 1$/,
  ],
  [
    "changes the epoch in the log too",
    (forgery) => {
      forgery.matches.R1M1.epoch = 2;
      for (const event of forgery.events) if (event.match_id === "R1M1") event.epoch = 2;
    },
    LOG,
    /match_assigned of R1M1 under epoch 2, not 1/,
  ],
  [
    "drops a match and calls the league running",
    ({ matches, league }) => {
      delete matches.R3M1;
      league.matches.pop();
      league.status = "running";
    },
    RUN_FILE,
    /^rps: its field matches is not what its log gives$/,
  ],
  [
    "reorders the matches",
    ({ league }) => league.matches.reverse(),
    RUN_FILE,
    /^rps: its field matches is not what its log gives$/,
  ],
  [
    "reorders the players",
    ({ league }) => league.players.reverse(),
    RUN_FILE,
    /^rps: its field players is not what its log gives$/,
  ],
  [
    "changes the options",
    ({ league }) => (league.options.best_of = 3),
    RUN_FILE,
    /^rps: its field options is not what its log gives$/,
  ],
  [
    "changes the roles",
    (forgery) => eventOf(forgery, "opened").roles.reverse(),
    RUN_FILE,
    /^rps: its roles are not those of/,
  ],
  ["names another run", ({ run }) => (run.run_id = "other"), RUN_FILE, /^rps: its log is of another run$/],
  [
    "tells another seed of the league",
    ({ league }) => (league.seed = "other"),
    RUN_FILE,
    /^rps: its seed is not the one whose hash is its seed_commitment$/,
  ],
  [
    "tells no seed of a completed league",
    ({ league }) => (league.seed = null),
    RUN_FILE,
    /^rps: it is completed, but its seed is missing$/,
  ],
  [
    "changes the seed of a match",
    ({ matches }) => (matches.R1M1.seed = "other"),
    R1M1,
    /^its seed is not the one that the seed of the league gives$/,
  ],
  [
    "changes a pairing",
    (forgery) => eventOf(forgery, "round_paired").pairings[0].players.reverse(),
    LOG,
    /is not the round_paired that the rules of the league give after started$/,
  ],
  [
    "pairs a round that the format does not have",
    (forgery) => {
      const last = forgery.events.findLastIndex(({ type }) => type === "round_paired");
      const { v, at, type } = forgery.events[last];
      forgery.events.splice(last + 1, 0, { v, at, type, round_id: 4, pairings: [], byes: ["P01", "P02", "P03"] });
    },
    LOG,
    /a round that the format of the league does not have$/,
  ],
  [
    "changes the winner",
    ({ matches }) => (matches.R1M1.winner = "P03"),
    R1M1,
    /^winner is "P03", but the log gives "P02"$/,
  ],
  [
    "changes the winner in the log of the league too",
    (forgery) => {
      const points = { winner: "P03", match_points: { P02: 0, P03: 3 } };
      Object.assign(forgery.matches.R1M1, points);
      Object.assign(eventOf(forgery, "match_completed", "R1M1"), points);
    },
    R1M1,
    /^winner is "P03", but the log gives "P02"$/,
  ],
  [
    "changes an action",
    ({ matches }) => (matches.R1M1.log[1] = matches.R1M1.log[1].replace("rock", "paper")),
    R1M1,
    /^winner is "P02", but the log gives "P03"$|^log_head/,
  ],
];

describe("a forger who makes everything else fit is found out: one who", () => {
  it.each(FORGERIES)("%s", (_, change, file, message) => {
    const { verdict, faults } = forged(plain, change);
    expect(verdict).toBe("not sound");
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });

  it("changes nothing is not", () => {
    expect(forged(plain, () => {})).toMatchObject({ verdict: "verified", faults: [] });
  });
});

describe("what a forger of all files can do is named", () => {
  it("a match that is added in the log as by the operator is an exception", () => {
    const { verdict, exceptions } = forged(plain, (forgery) => {
      const { events, matches, league } = forgery;
      const { v, at } = events[0];
      const added = { v, at, type: "match_scheduled", match_id: "R3M2", round_id: 3, players: ["P01", "P02"] };
      events.splice(indexOf(forgery, "match_assigned", "R3M1"), 0, added);
      const end = events.pop();
      const about = { v, at, match_id: "R3M2", referee_id: "REF01" };
      const abort = { ...about, type: "match_released", reason: "aborted", detail: "full" };
      for (const epoch of [1, 2]) events.push({ ...about, type: "match_assigned", epoch }, { ...abort, epoch });
      events.push({ ...about, type: "match_assigned", epoch: 3 });
      events.push({ ...about, type: "match_aborted", epoch: 3, reason: "full", log_head: "" }, end);
      const nothing = { winner: null, final_scores: {}, match_points: {}, faults: [], log: [], log_head: "" };
      const roles = { player_1: "P01", player_2: "P02" };
      const seed = seedOfMatch(league.seed, "rps", "R3M2", 3);
      matches.R3M2 = { ...matches.R3M1, ...nothing, match_id: "R3M2", roles, epoch: 3, seed };
      Object.assign(matches.R3M2, { termination: "aborted", reason: "full" });
      league.matches.push("R3M2");
    });
    expect(verdict).toBe("verified except");
    expect(exceptions.map(({ message }) => message)).toEqual([
      "rps/R3M2 was added by the operator",
      "rps/R3M2 was aborted without a log",
    ]);
  });

  it("a log that is cut off is that of an earlier moment, which the published digest alone disproves", () => {
    const { verdict, unplayed, exceptions } = forged(plain, (forgery) => {
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
