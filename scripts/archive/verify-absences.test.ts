/** Forgers of the timeouts that shut a player down, who make everything else fit again. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile } from "./files.ts";
import { type TestExports, testExports } from "./testing-exports.ts";
import { type Forgery, forgeRun, type Json } from "./testing-forgery.ts";
import { timedOutRun } from "./testing-store.ts";
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

it("a player that was shut down by timeouts forfeits its matches", () => {
  expect(forged(() => {})).toMatchObject({ verdict: "verified", faults: [], withoutLog: ["rps/R5M2"] });
});

describe("the timeouts that shut a player down: a forger is found out who", () => {
  const P05 = agentLogFile("P05");
  const absentAt = ({ events }: Forgery): Json => events.find(({ absent }) => absent?.length > 0).absent[0];

  it.each<[string, (forgery: Forgery) => void, string, RegExp]>([
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
    [
      "invents a timeout",
      ({ agents }) =>
        Object.assign(
          agents.P05?.find(({ type }) => type === "timed_out"),
          { match_id: "R5M1" },
        ),
      P05,
      /rps\/R5M1 under epoch 1 is no match that it lost because it did not answer/,
    ],
    [
      "counts the forfeit itself as a timeout",
      ({ agents }) =>
        Object.assign(
          agents.P05?.find(({ type }) => type === "timed_out"),
          { match_id: "R5M2" },
        ),
      P05,
      /rps\/R5M2 under epoch 1 is no match that it lost because it did not answer/,
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
      /is not the match_completed that follows from round_opened/,
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
      /which it finished, lies between its timeouts/,
    ],
  ])("%s", (_, change, file, message) => {
    const { verdict, faults } = forged(change);
    expect(verdict).toBe("not sound");
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });
});
