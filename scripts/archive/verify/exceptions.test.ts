import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { leagueSeed } from "../../../league-manager/league/league.ts";
import { act } from "../../../league-manager/league/testing/leagues.ts";
import { leagueLogFile, matchFile, RUN_FILE } from "../format.ts";
import { filesIn, testExports } from "../testing/exports.ts";
import { forgeFile, forgeRun, type Json } from "../testing/forgery.ts";
import { eventfulRun, plainRun, RUN_SEED, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

describe("verify reports exceptions and no faults for", () => {
  it("facts that only the operator or a referee asserts", async () => {
    const { verdict, faults, exceptions, matches, withoutLog } = verifyExport(await exports.exported(eventfulRun));
    expect({ verdict, faults, matches, withoutLog }).toEqual({
      verdict: "verified except",
      faults: [],
      matches: 2,
      withoutLog: ["rps/R1M1", "rps/R3M1"],
    });
    expect(exceptions).toEqual([
      { file: leagueLogFile("rps"), message: "rps/R2M2 was added by the operator" },
      { file: leagueLogFile("rps"), message: "P03 leaves rps after its start: the operator removed it" },
      { file: leagueLogFile("rps"), message: "P03 is absent from round 3 of rps: the operator removed it" },
      { file: matchFile("rps", "R1M1"), message: "rps/R1M1 was aborted without a log" },
    ]);
  });

  it("a running league whose format pairs further matches, which count as matches still to be played", async () => {
    const folder = await exports.exported((folder) =>
      writeStore(
        folder,
        ["rps"],
        async (run) => {
          await run.start("Ann", "Bob", "Cid", "Dan");
          await run.round("rps");
        },
        { format: "swiss", formatOptions: { rounds: 3 } },
      ),
    );
    expect(verifyExport(folder).unplayed).toEqual(new Map([["rps", 4]]));
  });

  it("a running league, whose export omits the secret seeds and counts the matches still to be played", async () => {
    const folder = await exports.exported((folder) =>
      writeStore(folder, ["rps", "second"], async (run) => {
        await run.start("Ann", "Bob", "Cid");
        await run.round("rps");
        for (const _ of [1, 2, 3]) await run.round("second");
        await run.complete("second");
      }),
    );
    expect(verifyExport(folder)).toMatchObject({
      verdict: "verified except",
      matches: 4,
      exceptions: [{ file: RUN_FILE, message: "the seeds of rps cannot be checked before it is completed" }],
    });
    expect(verifyExport(folder).unplayed).toEqual(new Map([["rps", 2]]));
    const { seed, leagues } = JSON.parse(readFileSync(join(folder, RUN_FILE), "utf8"));
    expect([seed, ...leagues.map((league: Json) => league.seed)]).toEqual([null, null, leagueSeed(RUN_SEED, "second")]);
    for (const file of filesIn(folder)) {
      const text = readFileSync(join(folder, file), "utf8");
      for (const secret of [RUN_SEED, leagueSeed(RUN_SEED, "rps")]) expect(text, file).not.toContain(secret);
    }
  });

  it("the missing seeds of a league that is not completed", async () => {
    const folder = await exports.exported(plainRun);
    forgeRun(folder, ({ run, league, events }) => {
      events.pop();
      Object.assign(league, { status: "running", seed: null });
      run.seed = null;
    });
    expect(verifyExport(folder)).toMatchObject({
      verdict: "verified except",
      faults: [],
      exceptions: [{ file: RUN_FILE, message: "the seeds of rps cannot be checked before it is completed" }],
    });
  });

  it("a match that its referee aborted during play, and replays its log", async () => {
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

  it("an export without matches", async () => {
    const folder = await exports.exported((folder) => writeStore(folder, ["rps"], (run) => run.start("Ann", "Bob")));
    const exceptions = [{ file: RUN_FILE, message: "nothing to verify: no match is completed" }];
    expect(verifyExport(folder)).toMatchObject({ verdict: "verified except", faults: [], exceptions });
  });

  it("an export without leagues", async () => {
    const folder = await exports.exported((folder) => writeStore(folder, [], async () => {}));
    forgeFile(folder, RUN_FILE, (run) => Object.assign(run, { leagues: [], agents: [] }));
    const { verdict, exceptions } = verifyExport(folder);
    expect([verdict, exceptions.map(({ message }) => message)]).toEqual([
      "verified except",
      ["nothing to verify: no match is completed"],
    ]);
  });
});
