import { afterAll, describe, expect, it } from "vitest";
import { assignMatch, releaseMatch } from "../../../league-manager/commands/matches.ts";
import { leagueLogFile } from "../files.ts";
import { testExports } from "../testing/exports.ts";
import { writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

/** A completed league of two players, whose match is first released for these reasons. */
const releasedRun = (reasons: readonly ("overdue" | "unreachable" | "refused")[]) => (folder: string) =>
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
  it("are counted when they are few", async () => {
    const folder = await exports.exported(releasedRun(["unreachable", "refused", "overdue", "refused"]));
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified", discarded: 4 });
  });

  it("are an exception when more than three of a match were released because the referee was unreachable or rejected them", async () => {
    const folder = await exports.exported(releasedRun(["unreachable", "refused", "overdue", "refused", "refused"]));
    const message = "rps/R1M1 was given to a referee 6 times: 5 attempts were discarded";
    const exceptions = [{ file: leagueLogFile("rps"), message }];
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", discarded: 5, exceptions });
  });
});
