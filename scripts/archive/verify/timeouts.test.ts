import { afterAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile } from "../files.ts";
import { expectFault, forged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { type Forgery, forfeit, stepsOf, timeoutIn } from "../testing/forgery.ts";
import { lostBy, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const LOG = leagueLogFile("rps");

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

describe("verify rejects the log of a player if", () => {
  it.each<[string, (folder: string) => Promise<string>, (forgery: Forgery) => void, string, RegExp]>([
    [
      "it counts one timeout three times",
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
      "its timeouts come after the absence",
      runWith([...FOUR, "Eve"], "P05", [2, 3, 4, 5]),
      (forgery) => {
        const version = stepsOf(forgery, "P05").findLastIndex(({ type }) => type === "timed_out") + 1;
        forfeit(forgery, "R1M1", "P05", version);
      },
      agentLogFile("P05"),
      /is not in the order in which the matches ended$/,
    ],
    [
      "the player is shut down and continues to play",
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
      "a later absence names an earlier version of it",
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
      "the player is renewed while its league is running",
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
      "a timeout is missing, although the player is never absent",
      runWith(THREE, "P03", [1]),
      (forgery) => stepsOf(forgery, "P03").splice(2, 2),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1, which it lost because it did not answer, is missing$/,
    ],
    [
      "the end of a series of timeouts is missing",
      runWith(THREE, "P03", [1]),
      (forgery) => stepsOf(forgery, "P03").splice(3, 1),
      agentLogFile("P03"),
      /^rps\/R3M1 under epoch 1, which it finished, is missing$/,
    ],
    [
      "a timeout is of a match that does not exist",
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
      "a timeout is at another time than the end of its match",
      runWith(THREE, "P03", [1]),
      (forgery) => (timeoutIn(forgery, "P03").at = "2024-12-31T00:00:00.000Z"),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1 did not end at 2024-12-31T00:00:00.000Z$/,
    ],
    [
      "the removal that explains an absence is later",
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
      "it registers a referee",
      runWith(THREE, "", []),
      (forgery) => (stepsOf(forgery, "P03")[0].kind = "referee"),
      agentLogFile("P03"),
      /^event 0: registers a referee$/,
    ],
    [
      "it is empty",
      runWith(THREE, "", []),
      (forgery) => stepsOf(forgery, "P03").splice(0),
      agentLogFile("P03"),
      /^has no events$/,
    ],
  ])("%s", async (_, fill, change, file, message) => {
    const folder = await exports.exported(fill);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified" });
    expectFault(forged(exports, folder, change), file, message);
  });
});
