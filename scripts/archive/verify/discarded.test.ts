import { afterAll, describe, expect, it } from "vitest";
import { assignMatch, releaseMatch } from "../../../league-manager/commands/match-commands.ts";
import { leagueLogFile } from "../format.ts";
import { testExports } from "../testing/exports.ts";
import { writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

/** Writes a completed league of two players whose match was released for each of these reasons before it was played. */
const runWithReleases = (reasons: readonly ("overdue" | "unreachable" | "refused")[]) => (folder: string) =>
  writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", "Bob");
    await run.round("rps", () => null);
    for (const [index, reason] of reasons.entries()) {
      const match = { leagueId: "rps", matchId: "R1M1", epoch: index + 1 };
      await run.execute(assignMatch({ ...match, refereeId: "REF01" }));
      await run.execute(releaseMatch({ ...match, reason, detail: "no answer" }));
    }
    await run.play("rps", "R1M1");
    await run.complete("rps");
  });

describe("discarded assignments", () => {
  it("are counted without an exception up to the limit", async () => {
    const folder = await exports.exported(runWithReleases(["unreachable", "refused", "overdue", "refused"]));
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified", discarded: 4 });
  });

  it("are an exception if the referee was unreachable or rejected the match more than three times", async () => {
    const folder = await exports.exported(runWithReleases(["unreachable", "refused", "overdue", "refused", "refused"]));
    const message = "rps/R1M1 was assigned 6 times: 5 assignments were discarded";
    const exceptions = [{ file: leagueLogFile("rps"), message }];
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", discarded: 5, exceptions });
  });
});
