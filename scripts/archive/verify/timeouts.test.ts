import { afterAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile } from "../format.ts";
import { expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { type Forgery, firstTimeoutOf, forfeitMatch, playerEvents } from "../testing/forgery.ts";
import { lostBy, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const LOG = leagueLogFile("rps");

/** Writes a completed league in which a player does not answer in its matches of these rounds. */
const runWithTimeouts = (names: readonly string[], playerId: string, rounds: readonly number[]) => (folder: string) =>
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
      runWithTimeouts(THREE, "P03", [1]),
      (forgery) => {
        const steps = playerEvents(forgery, "P03");
        const timeout = firstTimeoutOf(forgery, "P03");
        steps.splice(2, steps.length, timeout, timeout, timeout);
        forfeitMatch(forgery, "R3M1", "P03", 5);
      },
      agentLogFile("P03"),
      /^event 3: rps\/R1M1 under epoch 1 is counted twice$/,
    ],
    [
      "its timeouts are later than the absence",
      runWithTimeouts([...FOUR, "Eve"], "P05", [2, 3, 4, 5]),
      (forgery) => {
        const version = playerEvents(forgery, "P05").findLastIndex(({ type }) => type === "timed_out") + 1;
        forfeitMatch(forgery, "R1M1", "P05", version);
      },
      agentLogFile("P05"),
      /is not in the order in which the matches were completed$/,
    ],
    [
      "the player is shut down and continues to play",
      runWithTimeouts(FOUR, "P04", [1]),
      (forgery) => {
        const { v, at } = forgery.events[0];
        playerEvents(forgery, "P04").splice(3, 9, { v, at, type: "removed" });
        forfeitMatch(forgery, "R2M1", "P04", 4);
      },
      LOG,
      /^P04 is shut down, but not absent from round 3 of rps$/,
    ],
    [
      "a later absence names an earlier version of its log",
      runWithTimeouts(THREE, "", []),
      (forgery) => {
        const { v, at } = forgery.events[0];
        playerEvents(forgery, "P03").splice(2, 9, { v, at, type: "removed" }, { v, at, type: "token_reset" });
        forfeitMatch(forgery, "R1M1", "P03", 4);
        forfeitMatch(forgery, "R3M1", "P03", 3);
      },
      LOG,
      /^P03 was not shut down at this version at the opening of round 3 of rps$/,
    ],
    [
      "the player is renewed while its league is running",
      runWithTimeouts(THREE, "P03", [1]),
      (forgery) => {
        const { v, at } = forgery.events[0];
        const steps = playerEvents(forgery, "P03");
        const types = ["removed", "renewed", "activated"].map((type) => ({ v, at, type }));
        steps.splice(3, 0, ...types, { ...firstTimeoutOf(forgery, "P03") });
      },
      agentLogFile("P03"),
      /answered|is not in the order|counted twice/,
    ],
    [
      "a timeout is missing and the player is never absent",
      runWithTimeouts(THREE, "P03", [1]),
      (forgery) => playerEvents(forgery, "P03").splice(2, 2),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1, which it lost because it did not answer, is missing$/,
    ],
    [
      "the end of a series of timeouts is missing",
      runWithTimeouts(THREE, "P03", [1]),
      (forgery) => playerEvents(forgery, "P03").splice(3, 1),
      agentLogFile("P03"),
      /^rps\/R3M1 under epoch 1, which it finished, is missing$/,
    ],
    [
      "a timeout names a match that does not exist",
      runWithTimeouts(THREE, "", []),
      (forgery) => {
        const { v, at } = forgery.events[0];
        const match = { league_id: "rps", match_id: "R9M9", epoch: 1 };
        playerEvents(forgery, "P03").splice(2, 0, { v, at, type: "timed_out", ...match });
      },
      agentLogFile("P03"),
      /^rps\/R9M9 under epoch 1 is not a match that it lost because it did not answer$/,
    ],
    [
      "the time of a timeout differs from the end of its match",
      runWithTimeouts(THREE, "P03", [1]),
      (forgery) => (firstTimeoutOf(forgery, "P03").at = "2024-12-31T00:00:00.000Z"),
      agentLogFile("P03"),
      /^rps\/R1M1 under epoch 1 did not end at 2024-12-31T00:00:00.000Z$/,
    ],
    [
      "the removal that causes an absence is later than the absence",
      runWithTimeouts(THREE, "", []),
      (forgery) => {
        const { v } = forgery.events[0];
        playerEvents(forgery, "P03").splice(2, 9, { v, at: "2026-01-01T00:00:00.000Z", type: "removed" });
        forfeitMatch(forgery, "R3M1", "P03", 3);
      },
      LOG,
      /^P03 was not shut down at this version at the opening of round 3 of rps$/,
    ],
    [
      "it registers a referee",
      runWithTimeouts(THREE, "", []),
      (forgery) => (playerEvents(forgery, "P03")[0].kind = "referee"),
      agentLogFile("P03"),
      /^event 0: registers a referee$/,
    ],
    [
      "it is empty",
      runWithTimeouts(THREE, "", []),
      (forgery) => playerEvents(forgery, "P03").splice(0),
      agentLogFile("P03"),
      /^has no events$/,
    ],
  ])("%s", async (_, fill, change, file, message) => {
    const folder = await exports.exported(fill);
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified" });
    expectFault(verifyForged(exports, folder, change), file, message);
  });
});
