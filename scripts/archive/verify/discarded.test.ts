import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assignMatch, releaseMatch } from "../../../league-manager/commands/matches.ts";
import { act } from "../../../league-manager/league/testing.ts";
import { leagueLogFile, matchFile, RUN_FILE } from "../files.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { forgeFile, forgeRun } from "../testing/forgery.ts";
import { plainRun, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

let exports: TestExports;
beforeAll(() => {
  exports = testExports();
});
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

describe("an export that shows little", () => {
  it("has the exception that the seeds cannot be checked if its league is not completed", async () => {
    const folder = await exports.exported(plainRun);
    forgeRun(folder, ({ run, league, events }) => {
      events.pop();
      Object.assign(league, { status: "running", seed: null });
      run.seed = null;
    });
    expect(verifyExport(folder)).toMatchObject({
      ...{ verdict: "verified except", faults: [] },
      exceptions: [{ file: RUN_FILE, message: "the seeds of rps cannot be checked before it is completed" }],
    });
  });

  it("has the exception of a match that its referee aborted while it was played, and replays it", async () => {
    const folder = await exports.exported((folder) =>
      writeStore(folder, ["rps"], async (run) => {
        await run.start("Ann", "Bob");
        await run.round("rps", () => null);
        await run.abort("rps", "R1M1", [act(1, "rock"), { type: "abort", reason: "out of memory" }]);
        await run.complete("rps");
      }),
    );
    const exceptions = [{ file: matchFile("rps", "R1M1"), message: "rps/R1M1 was aborted by its referee" }];
    const expected = { verdict: "verified except", faults: [], exceptions, matches: 1, withoutLog: [] };
    expect(verifyExport(folder)).toMatchObject(expected);
  });

  it("has the exception that there is nothing to verify if it has no matches", async () => {
    const folder = await exports.exported((folder) => writeStore(folder, ["rps"], (run) => run.start("Ann", "Bob")));
    const exceptions = [{ file: RUN_FILE, message: "nothing to verify: no match is completed" }];
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", faults: [], exceptions });
  });

  it("is not verified if it has no leagues", async () => {
    const folder = await exports.exported((folder) => writeStore(folder, [], async () => {}));
    forgeFile(folder, RUN_FILE, (run) => Object.assign(run, { leagues: [], agents: [] }));
    const { verdict, exceptions } = verifyExport(folder);
    expect([verdict, exceptions.map(({ message }) => message)]).toEqual([
      "verified except",
      ["nothing to verify: no match is completed"],
    ]);
  });
});
