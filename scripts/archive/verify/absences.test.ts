import { afterAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { type Forgery, firstTimeoutOf, type Json, setForfeitReason } from "../testing/forgery.ts";
import { lostBy, timedOutRun, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
/** An export in which P05 is shut down after timeouts and forfeits R5M2. */
const timedOut = await exports.exported(timedOutRun);

const LOG = leagueLogFile("rps");

it("verify accepts the forfeits of a player that is shut down after timeouts", () => {
  expect(verifyForged(exports, timedOut, () => {})).toMatchObject({
    verdict: "verified",
    faults: [],
    withoutLog: ["rps/R5M2"],
  });
});

describe("verify rejects an absence if", () => {
  const P05 = agentLogFile("P05");
  const absentAt = ({ events }: Forgery): Json => events.find(({ absent }) => absent?.length > 0).absent[0];

  it.each<Attempt>([
    [
      "it names an earlier version of the player's log",
      (forgery) => absentAt(forgery).agent_version--,
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    [
      "it names a version that the player's log does not have",
      (forgery) => (absentAt(forgery).agent_version = 99),
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    ...[
      ["a timeout is invented", "R5M1"],
      ["the forfeit itself is counted as a timeout", "R5M2"],
    ].map(([name = "", match_id]): Attempt => {
      const message = `rps/${match_id} under epoch 1 is not a match that it lost because it did not answer`;
      return [name, (forgery) => Object.assign(firstTimeoutOf(forgery, "P05"), { match_id }), P05, new RegExp(message)];
    }),
    [
      "it names the operator, but timeouts shut the player down",
      (forgery) => {
        absentAt(forgery).removed = true;
        setForfeitReason(forgery, "R5M2", "removed_by_operator", "the operator removed the player");
      },
      LOG,
      /^P05 is absent from round 5 of rps: timeouts shut it down, and the operator did not remove it$/,
    ],
    [
      "a timeout is missing in the player's log",
      ({ agents }) =>
        agents.P05?.splice(
          agents.P05.findIndex(({ type }) => type === "timed_out"),
          1,
        ),
      LOG,
      /P05 is absent from round 5 of rps, but neither/,
    ],
    [
      "the forfeit that follows from it is changed",
      (forgery) => {
        const index = forgery.events.findIndex(({ referee_id }) => referee_id === null);
        forgery.events[index].faults[0].detail = "another detail";
        forgery.matches.R5M2.faults[0].detail = "another detail";
      },
      LOG,
      /is not the match_completed that the league's rules require after round_opened/,
    ],
    [
      "a timeout is counted twice",
      (forgery) => {
        // The match of the second timeout gets another fault, so that its own timeout is not missed.
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
    expectFault(verifyForged(exports, timedOut, change), file, message);
  });
});

it("verify accepts the shutdown of a player in all leagues after timeouts in several of them", async () => {
  const folder = await exports.exported((folder) =>
    writeStore(folder, ["rps", "second"], async (run) => {
      await run.start("Ann", "Bob", "Cid", "Dee");
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
