import { afterAll, describe, expect, it } from "vitest";
import { roundOf } from "../../../league-manager/league/league.ts";
import { act } from "../../../league-manager/league/testing/leagues.ts";
import { leagueLogFile } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { eventOf, type Forgery, type Json } from "../testing/forgery.ts";
import { plainRun, type TestRun, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const LOG = leagueLogFile("rps");
const FOUR = ["Ann", "Bob", "Cid", "Dan"] as const;

/** Plays rounds of a Swiss and asks for the next round after each. */
async function playSwiss(run: TestRun, rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    await run.round("rps");
    await run.pair("rps");
  }
}

/** The settings of a league with a format. */
const swissOf = (rounds: number) => ({ format: "swiss", formatOptions: { rounds } });
/** A Swiss of four players with two rounds. */
const swiss = await exports.exported((folder) =>
  writeStore(
    folder,
    ["rps"],
    async (run) => {
      await run.start(...FOUR);
      await playSwiss(run, 2);
      await run.complete("rps");
    },
    swissOf(2),
  ),
);

/** A sequential test with open matches at its end. */
const test = await exports.exported((folder) =>
  writeStore(
    folder,
    ["rps"],
    async (run) => {
      await run.start("Ann", "Bob");
      while (!run.league("rps").isPairingComplete) {
        await run.pair("rps", 4);
        const open = run.league("rps").openRounds[0] ?? 0;
        for (const { matchId, players } of roundOf(run.league("rps"), open)?.matches ?? []) {
          const winner = players[0] === "P01" ? (["rock", "scissors"] as const) : (["scissors", "rock"] as const);
          if (!run.league("rps").isPairingComplete)
            await run.play("rps", matchId, [act(1, winner[0]), act(2, winner[1])]);
        }
        await run.pair("rps", 0);
      }
      await run.complete("rps");
    },
    { format: "sprt", formatOptions: { elo0: 0, elo1: 300 } },
  ),
);

const swapped = (forgery: Forgery, type: string, index: number, change: (event: Json) => void): void => {
  const event = forgery.events.filter((one: Json) => one.type === type)[index];
  change(event);
};

describe("verify accepts", () => {
  it("a Swiss, and a sequential test whose open matches were cancelled", () => {
    expect(verifyExport(swiss)).toMatchObject({ verdict: "verified", matches: 4 });
    const { verdict, exceptions, withoutLog } = verifyExport(test);
    expect({ verdict, exceptions }).toEqual({ verdict: "verified", exceptions: [] });
    expect(withoutLog.length).toBeGreaterThan(0);
  });

  it("a round robin of an earlier version, without the end of the pairing in its log and without its format in league.json", async () => {
    const earlier = await exports.exported(plainRun);
    const verified = verifyForged(exports, earlier, ({ events, run }) => {
      events.splice(
        events.findIndex(({ type }: Json) => type === "pairing_completed"),
        1,
      );
      for (const league of run.leagues) {
        delete league.format;
        delete league.format_options;
      }
    });
    expect(verified).toMatchObject({ verdict: "verified", faults: [] });
  });

  it("a Swiss that is not completed, whose pairings do not depend on the secret seed", async () => {
    const running = await exports.exported((folder) =>
      writeStore(
        folder,
        ["rps"],
        async (run) => {
          await run.start(...FOUR);
          await playSwiss(run, 1);
        },
        swissOf(3),
      ),
    );
    expect(verifyExport(running).exceptions.filter(({ file }) => file === LOG)).toEqual([]);
    const forged = verifyForged(exports, running, (forgery) =>
      swapped(forgery, "round_paired", 1, ({ pairings }) => pairings[0].players.reverse()),
    );
    expectFault(forged, LOG, /is not the round_paired that the league's rules require after the earlier results$/);
  });

  it("an elimination that is not completed, and says that its random seeding was not checked", async () => {
    const running = await exports.exported((folder) =>
      writeStore(
        folder,
        ["rps"],
        async (run) => {
          await run.start(...FOUR);
          await playSwiss(run, 1);
        },
        { format: "single-elimination", formatOptions: { seeding: "random" } },
      ),
    );
    const { verdict, exceptions } = verifyExport(running);
    expect(verdict).toBe("verified except");
    expect(exceptions).toContainEqual({
      file: LOG,
      message: "the pairings were not checked: its seed is not revealed before it is completed",
    });
  });
});

const ATTEMPTS: readonly Attempt[] = [
  [
    "a pairing of the second round has other roles",
    (forgery) => swapped(forgery, "round_paired", 1, ({ pairings }) => pairings[0].players.reverse()),
    LOG,
    /is not the round_paired that the league's rules require after the earlier results$/,
  ],
  [
    "the format has more rounds",
    ({ events }) => {
      for (const event of events) if (event.type === "opened") event.format_options.rounds = 3;
    },
    LOG,
    /: the format of the league has not ended$/,
  ],
  [
    "the end of the format is missing, and the format has more rounds",
    (forgery) => {
      for (const event of forgery.events) if (event.type === "opened") event.format_options.rounds = 3;
      const end = forgery.events.findIndex(({ type }: Json) => type === "pairing_completed");
      forgery.events.splice(end, 1);
    },
    LOG,
    /: the format of the league has not ended$/,
  ],
  [
    "a player leaves without a cause",
    ({ events }) => {
      const at = events.findIndex(({ type }: Json) => type === "pairing_completed");
      const { v, at: time } = events[0];
      events.splice(at, 0, { v, at: time, type: "player_left", player_id: "P01", agent_version: 1 });
    },
    LOG,
    /^P01 leaves rps after its start, but neither timeouts nor the operator had shut it down$/,
  ],
];

describe("verify rejects the log of a Swiss in which", () => {
  it.each(ATTEMPTS)("%s", (_, change, file, message) => {
    expectFault(verifyForged(exports, swiss, change), file, message);
  });
});

describe("verify rejects the log of a sequential test in which", () => {
  it("a match is not cancelled", () => {
    const forged = verifyForged(exports, test, (forgery) => {
      const cancelled = eventOf(forgery, "match_cancelled");
      forgery.events.splice(forgery.events.indexOf(cancelled), 1);
    });
    expectFault(
      forged,
      LOG,
      /match_cancelled that the league's rules require after pairing_completed|completed before its last match/,
    );
  });

  it("the test ended before it was decided", () => {
    const forged = verifyForged(exports, test, ({ events }) => {
      for (const event of events) if (event.type === "opened") event.format_options.elo1 = 5;
    });
    expectFault(forged, LOG, /the format of the league has not ended$/);
  });
});
