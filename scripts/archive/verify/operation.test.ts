import { afterAll, describe, expect, it } from "vitest";
import {
  addPlayer,
  annulMatch,
  endLeague,
  expireRound,
  extendLeague,
  pauseLeague,
  resumeLeague,
} from "../../../league-manager/commands/league-commands.ts";
import { player } from "../../../league-manager/commands/testing/commands.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf, forgeRun } from "../testing/forgery.ts";
import { lostBy, saltOf, type TestRun, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const LOG = "leagues/rps.jsonl";

/** Exports a league after the commands of `fill`. */
const exported = (fill: (run: TestRun) => Promise<void>, more: Parameters<typeof writeStore>[3] = {}) =>
  exports.exported((folder) => writeStore(folder, ["rps"], fill, more));

/** A league of three players that is paused, extended by a cycle, and has an annulled match. */
const operated = (run: TestRun): Promise<void> =>
  (async () => {
    await run.start("Ann", "Bob", "Cid");
    await run.round("rps");
    await run.execute(pauseLeague("rps"));
    await run.execute(extendLeague("rps", { cycles: 2 }));
    await run.execute(annulMatch("rps", "R1M1", "played with the wrong bot"));
    await run.execute(resumeLeague("rps"));
    for (const _ of [2, 3]) await run.round("rps");
    await run.pair("rps");
    for (const _ of [4, 5, 6]) await run.round("rps");
    await run.complete("rps");
  })();

/** A league of four players whose first round ends before its second match. */
const expired = (run: TestRun): Promise<void> =>
  (async () => {
    await run.start("Ann", "Bob", "Cid", "Dee");
    await run.round("rps", ({ matchId }) => (matchId === "R1M1" ? undefined : null));
    await run.execute(expireRound("rps", 1));
    for (const _ of [2, 3]) await run.round("rps");
    await run.complete("rps");
  })();

/** A league of four players that the operator ends in its second round, while it is paused. */
const ended = (run: TestRun): Promise<void> =>
  (async () => {
    await run.start("Ann", "Bob", "Cid", "Dee");
    await run.round("rps");
    await run.round("rps", ({ matchId }) => (matchId === "R2M1" ? undefined : null));
    await run.execute(pauseLeague("rps"));
    await run.execute(endLeague("rps"));
    await run.complete("rps");
  })();

describe("verify accepts a league", () => {
  it("that was paused, extended, and has an annulled match, and lists what the operator has changed", async () => {
    const { faults, exceptions, standings } = verifyExport(await exported(operated));
    expect(faults).toEqual([]);
    const messages = exceptions.map(({ message }) => message);
    expect(messages).toEqual(
      expect.arrayContaining([
        "rps/R1M1 was annulled by the operator: played with the wrong bot",
        "rps was extended by the operator",
      ]),
    );
    expect(messages.filter((message) => message.includes("rps/R1M1"))).toHaveLength(1);
    expect(standings.get("rps")?.reduce((sum, { played }) => sum + played, 0)).toBe(2 * 5);
  });

  it("that the operator ended early, and lists the end", async () => {
    const { verdict, faults, exceptions, standings } = verifyExport(await exported(ended));
    expect({ verdict, faults }).toEqual({ verdict: "verified except", faults: [] });
    const inLog = exceptions.filter(({ file }) => file === LOG).map(({ message }) => message);
    expect(inLog).toEqual(["rps was ended by the operator"]);
    expect(standings.get("rps")?.reduce((sum, { played }) => sum + played, 0)).toBe(2 * 3);
  });

  it("in which a late player makes up for its matches", async () => {
    const late = async (run: TestRun) => {
      await run.start("Ann", "Bob");
      await run.execute(player("Eve", { port: 9005, salt: saltOf("Eve") }));
      await run.round("rps");
      await run.pair("rps");
      for (const _ of [2, 3]) await run.round("rps");
      await run.complete("rps");
    };
    const { verdict, faults, exceptions, matches } = verifyExport(
      await exported(late, { formatOptions: { makeup: true }, lateEntry: "makeup" }),
    );
    expect({ verdict, faults, exceptions, matches }).toEqual({
      verdict: "verified",
      faults: [],
      exceptions: [],
      matches: 3,
    });
  });

  it.each([
    ["plays", ""],
    ["is shut down", "P01"],
  ])("that a player enters late, after the end of its former league, and in which it %s", async (_, silent) => {
    const late = async (run: TestRun) => {
      await run.execute(player("Eve", { port: 9005, salt: saltOf("Eve"), league_ids: ["second"] }));
      await run.start("Ann", "Bob");
      while (run.league("second").currentRound !== null) await run.round("second");
      await run.complete("second");
      await run.execute(player("Eve", { port: 9005, salt: saltOf("Eve") }));
      while (run.league("rps").currentRound !== null) {
        await run.round("rps", (match) => lostBy(silent, match));
        await run.pair("rps");
      }
      await run.complete("rps");
    };
    const formatOptions = { makeup: true, cycles: 3 };
    const folder = await exports.exported((parent) =>
      writeStore(parent, ["rps", "second"], late, { formatOptions, lateEntry: "makeup" }),
    );
    expect(verifyExport(folder).faults).toEqual([]);
  });

  it("to which the operator added a player", async () => {
    const added = async (run: TestRun) => {
      await run.start("Ann", "Bob");
      await run.execute(player("Eve", { port: 9005, salt: saltOf("Eve"), league_ids: ["second"] }));
      await run.execute(addPlayer("rps", "P03"));
      for (const leagueId of ["rps", "second"]) {
        await run.round(leagueId);
        await run.pair(leagueId);
        while (run.league(leagueId).currentRound !== null) await run.round(leagueId);
        await run.complete(leagueId);
      }
    };
    // The second league accepts late entries; P03 enters the first one only by the operator.
    const formatOptions = { makeup: true };
    const folder = await exports.exported((parent) =>
      writeStore(parent, ["rps", "second"], added, { formatOptions, lateEntry: "makeup" }),
    );
    const { faults, exceptions } = verifyExport(folder);
    expect(faults).toEqual([]);
    expect(exceptions.map(({ message }) => message)).toEqual(["P03 was added to rps by the operator after the start"]);
  });

  it("in which the time of a round was over", async () => {
    const folder = await exported(expired, { roundMs: 1_000 });
    forgeRun(folder, (forgery) => {
      eventOf(forgery, "round_opened").at = "2024-01-01T00:00:00.000Z";
    });
    expect(verifyExport(folder).faults).toEqual([]);
  });
});

describe("verify rejects a league in which", () => {
  it("a round expires before its time, or a match of it is not cancelled", async () => {
    const folder = await exported(expired, { roundMs: 1_000 });
    const faultsAfter = (change: Parameters<typeof forgeRun>[1]) =>
      verifyExport(exports.changed(folder, (copy) => forgeRun(copy, change))).faults;
    expect(faultsAfter(() => {})).toEqual([
      { file: LOG, message: expect.stringMatching(/^event \d+: the time of round 1 is not over$/) },
    ]);
    const renamed = faultsAfter((forgery) => {
      eventOf(forgery, "round_expired").type = "round_announced";
    });
    expect(renamed.length).toBeGreaterThan(0);
  });

  it("the event of its early end does not name the operator, or a match was not cancelled", async () => {
    const folder = await exported(ended);
    const messagesAfter = (change: Parameters<typeof forgeRun>[1]) =>
      verifyExport(exports.changed(folder, (copy) => forgeRun(copy, change))).faults.map(({ message }) => message);
    const unnamed = messagesAfter((forgery) => {
      delete eventOf(forgery, "pairing_completed").by;
    });
    expect(unnamed).toContainEqual(expect.stringMatching(/the format of the league has not ended$|cannot/));
    const missing = messagesAfter((forgery) => {
      forgery.events.splice(forgery.events.indexOf(eventOf(forgery, "match_cancelled")), 1);
    });
    expect(missing).toContainEqual(
      expect.stringMatching(/rules require after pairing_completed$|completed before its last match/),
    );
  });

  it("an annulled match had other points", async () => {
    const folder = await exported(operated);
    forgeRun(folder, (forgery) => {
      eventOf(forgery, "match_annulled").match_points = {};
    });
    expect(verifyExport(folder).faults[0]).toMatchObject({
      message: expect.stringContaining("R1M1 is annulled with other points"),
    });
  });

  it("the extension is not one of the format", async () => {
    const folder = await exported(operated);
    forgeRun(folder, (forgery) => {
      eventOf(forgery, "extended").format_options = { cycles: 2, makeup: true };
    });
    const messages = verifyExport(folder).faults.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining("extended by options that its format does not allow"));
  });
});
