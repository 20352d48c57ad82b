/** Forgers of the timeouts that shut a player down, who make everything else fit again. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile } from "../files.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { type Forgery, forfeit, forgeRun, type Json, withForfeit } from "../testing/forgery.ts";
import { lostBy, timedOutRun, writeStore } from "../testing/store.ts";
import { type Verified, verifyExport } from "./verify.ts";

let exports: TestExports;
/** Five players; P05 is shut down by timeouts, and forfeits R5M2. */
let timedOut: string;
beforeAll(async () => {
  exports = testExports();
  timedOut = await exports.exported(timedOutRun);
});
afterAll(() => exports.remove());

function forged(change: (forgery: Forgery) => void): Verified {
  const copy = exports.copyOf(timedOut);
  forgeRun(copy, change);
  return verifyExport(copy);
}

const LOG = leagueLogFile("rps");
const stepsOf = ({ agents }: Forgery, playerId: string): Json[] => agents[playerId] ?? [];
const timeoutIn = (forgery: Forgery, playerId: string): Json =>
  stepsOf(forgery, playerId).find(({ type }) => type === "timed_out");

it("a player that was shut down by timeouts forfeits its matches", () => {
  expect(forged(() => {})).toMatchObject({ verdict: "verified", faults: [], withoutLog: ["rps/R5M2"] });
});

describe("the timeouts that shut a player down: a forger is found out who", () => {
  const P05 = agentLogFile("P05");
  const absentAt = ({ events }: Forgery): Json => events.find(({ absent }) => absent?.length > 0).absent[0];

  type Attempt = [what: string, change: (forgery: Forgery) => void, file: string, message: RegExp];
  it.each<Attempt>([
    [
      "names an earlier version of the player's log",
      (forgery) => absentAt(forgery).agent_version--,
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    [
      "names a version that the player's log does not have",
      (forgery) => (absentAt(forgery).agent_version = 99),
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    ...[
      ["invents a timeout", "R5M1"],
      ["counts the forfeit itself as a timeout", "R5M2"],
    ].map(([what = "", match_id]): Attempt => {
      const message = `rps/${match_id} under epoch 1 is no match that it lost because it did not answer`;
      return [what, (forgery) => Object.assign(timeoutIn(forgery, "P05"), { match_id }), P05, new RegExp(message)];
    }),
    [
      "says that the operator removed the player",
      (forgery) => {
        absentAt(forgery).removed = true;
        withForfeit(forgery, "R5M2", "removed_by_operator", "the operator removed the player");
      },
      LOG,
      /^P05 is absent from round 5 of rps: timeouts shut it down, and the operator did not remove it$/,
    ],
    [
      "leaves out a timeout of the player's log",
      ({ agents }) =>
        agents.P05?.splice(
          agents.P05.findIndex(({ type }) => type === "timed_out"),
          1,
        ),
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    [
      "changes a forfeit that follows from the absence",
      (forgery) => {
        const index = forgery.events.findIndex(({ referee_id }) => referee_id === null);
        forgery.events[index].faults[0].detail = "another detail";
        forgery.matches.R5M2.faults[0].detail = "another detail";
      },
      LOG,
      /is not the match_completed that the rules of the league give after round_opened/,
    ],
    [
      "counts timeouts around a match that the player finished",
      (forgery) => {
        // The match between becomes one that P05 lost for another reason.
        const timeouts = forgery.agents.P05?.filter(({ type }) => type === "timed_out") ?? [];
        const { match_id } = timeouts[1];
        const completed = forgery.events.find(
          (event) => event.type === "match_completed" && event.match_id === match_id,
        );
        delete completed.faults[0].code;
        timeouts[1].match_id = timeouts[0].match_id;
      },
      P05,
      /is counted twice$/,
    ],
  ])("%s", (_, change, file, message) => {
    const { verdict, faults } = forged(change);
    expect(verdict).toBe("not sound");
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });
});

/** A completed league in which a player does not answer in its matches of these rounds. */
const runWith = (names: readonly string[], playerId: string, rounds: readonly number[]) => (folder: string) =>
  writeStore(folder, ["rps"], async (run) => {
    await run.start(...names);
    for (let round = 1; run.league("rps").currentRound !== null; round++)
      await run.round("rps", (match) => (rounds.includes(round) ? lostBy(playerId, match) : lostBy("", match)));
    await run.complete("rps");
  });
const THREE = ["Ann", "Bob", "Cid"];
const FOUR = [...THREE, "Dee"];

describe("the log of a player and that of its league: a forger is found out who", () => {
  it.each<[string, (folder: string) => Promise<string>, (forgery: Forgery) => void, string, RegExp]>([
    [
      "counts one timeout three times",
      runWith(THREE, "P03", [1]),
      (forgery) => {
        const steps = stepsOf(forgery, "P03");
        const timeout = timeoutIn(forgery, "P03");
        steps.splice(2, steps.length, timeout, timeout, timeout);
        forfeit(forgery, "R3M1", "P03", 5);
      },
      agentLogFile("P03"),
      /^event 3: rps\/R1M1 under epoch 1 is counted twice$/,
    ],
    [
      "explains an absence by timeouts that come after it",
      runWith([...FOUR, "Eve"], "P05", [2, 3, 4, 5]),
      (forgery) => {
        const version = stepsOf(forgery, "P05").findLastIndex(({ type }) => type === "timed_out") + 1;
        forfeit(forgery, "R1M1", "P05", version);
      },
      agentLogFile("P05"),
      /is not in the order in which the matches ended$/,
    ],
    [
      "lets a player play on that is shut down",
      runWith(FOUR, "P04", [1]),
      (forgery) => {
        const { v, at } = forgery.events[0];
        stepsOf(forgery, "P04").splice(3, 9, { v, at, type: "removed" });
        forfeit(forgery, "R2M1", "P04", 4);
      },
      LOG,
      /^P04 is shut down, but not absent from round 3 of rps$/,
    ],
    [
      "lets the version of a player fall",
      runWith(THREE, "", []),
      (forgery) => {
        const { v, at } = forgery.events[0];
        stepsOf(forgery, "P03").splice(2, 9, { v, at, type: "removed" }, { v, at, type: "token_reset" });
        forfeit(forgery, "R1M1", "P03", 4);
        forfeit(forgery, "R3M1", "P03", 3);
      },
      LOG,
      /^P03 was not yet shut down, or no longer at this version, at the opening of round 3 of rps$/,
    ],
    [
      "renews a player while its league runs",
      runWith(THREE, "P03", [1]),
      (forgery) => {
        const { v, at } = forgery.events[0];
        const steps = stepsOf(forgery, "P03");
        const types = ["removed", "renewed", "activated"].map((type) => ({ v, at, type }));
        steps.splice(3, 0, ...types, { ...timeoutIn(forgery, "P03") });
      },
      agentLogFile("P03"),
      /answered|is not in the order|counted twice/,
    ],
    [
      "leaves out a timeout of a player that is never absent",
      runWith(THREE, "P03", [1]),
      (forgery) => stepsOf(forgery, "P03").splice(2, 2),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1, which it lost because it did not answer, is missing$/,
    ],
    [
      "leaves out that a player answered again",
      runWith(THREE, "P03", [1]),
      (forgery) => stepsOf(forgery, "P03").splice(3, 1),
      agentLogFile("P03"),
      /^rps\/R3M1 under epoch 1, which it finished, is missing$/,
    ],
    [
      "invents a timeout in a match that does not exist",
      runWith(THREE, "", []),
      (forgery) => {
        const { v, at } = forgery.events[0];
        const match = { league_id: "rps", match_id: "R9M9", epoch: 1 };
        stepsOf(forgery, "P03").splice(2, 0, { v, at, type: "timed_out", ...match });
      },
      agentLogFile("P03"),
      /^rps\/R9M9 under epoch 1 is no match that it lost because it did not answer$/,
    ],
    [
      "moves a timeout to another time",
      runWith(THREE, "P03", [1]),
      (forgery) => (timeoutIn(forgery, "P03").at = "2024-12-31T00:00:00.000Z"),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1 did not end at 2024-12-31T00:00:00.000Z$/,
    ],
    [
      "explains an absence by a removal of a later time",
      runWith(THREE, "", []),
      (forgery) => {
        const { v } = forgery.events[0];
        stepsOf(forgery, "P03").splice(2, 9, { v, at: "2026-01-01T00:00:00.000Z", type: "removed" });
        forfeit(forgery, "R3M1", "P03", 3);
      },
      LOG,
      /^P03 was not yet shut down, or no longer at this version, at the opening of round 3 of rps$/,
    ],
    [
      "registers a player as a referee",
      runWith(THREE, "", []),
      (forgery) => (stepsOf(forgery, "P03")[0].kind = "referee"),
      agentLogFile("P03"),
      /^event 0: registers a referee$/,
    ],
    [
      "empties the log of a player",
      runWith(THREE, "", []),
      (forgery) => stepsOf(forgery, "P03").splice(0),
      agentLogFile("P03"),
      /^has no events$/,
    ],
  ])("%s", async (_, fill, change, file, message) => {
    const folder = await exports.exported(fill);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified" });
    forgeRun(folder, change);
    const { verdict, faults } = verifyExport(folder);
    expect(verdict).toBe("not sound");
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });

  it("timeouts of several leagues shut a player down for all of them", async () => {
    const folder = await exports.exported((folder) =>
      writeStore(folder, ["rps", "second"], async (run) => {
        await run.start(...FOUR);
        await run.round("rps", (match) => lostBy("P04", match));
        await run.round("second", (match) => lostBy("P04", match));
        await run.round("rps", (match) => lostBy("P04", match));
        for (const id of ["rps", "second", "second"]) await run.round(id);
        for (const id of ["rps", "second"]) await run.complete(id);
      }),
    );
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified", faults: [] });
    expect(verifyExport(folder).withoutLog).toEqual(["rps/R3M1", "second/R2M1", "second/R3M1"]);
  });
});
