import { describe, expect, it } from "vitest";
import type { LeagueSettings } from "./league.ts";
import { leagueSnapshot, restoreLeague } from "./snapshot.ts";
import { afterCommands, assign, enter, open, pair, played, running, SETTINGS } from "./testing/leagues.ts";

const settings: LeagueSettings = {
  ...SETTINGS,
  formatOptions: { makeup: true },
  lateEntry: "makeup",
  openings: [{ best_of: 1 }, { best_of: 3 }],
};
const assignTo = (refereeId: string, matchId: string, epoch = 1) => ({ ...assign(matchId, epoch), refereeId }) as const;
/** A league in its last round, of a late entry, with a match without a result and one that was taken from its referee. */
const { league } = afterCommands([
  ...played(running(["P01", "P02"], settings), "R1M1"),
  enter("P03"),
  enter("P04"),
  pair(),
  open(2),
  assignTo("REF01", "R2M1"),
  assignTo("REF02", "R2M2"),
  { type: "release", matchId: "R2M1", epoch: 1, reason: "refused", detail: "" },
]);

describe("a snapshot of a league", () => {
  it("has its matches with their options, referees and releases", () => {
    const round = league.rounds.at(1);
    expect(round).toMatchObject({
      label: "Makeup",
      matches: [{ options: { best_of: 3 }, epoch: 2 }, { refereeId: "REF02" }],
    });
    const snapshot = leagueSnapshot(league);
    expect(restoreLeague(snapshot)).toEqual(league);
    // A match that is not assigned has only its players.
    expect(JSON.parse(snapshot.rounds.get(3) ?? "").matches).toEqual([[1, 2], expect.any(Array)]);
  });

  it("is ignored if it is damaged or of another format", () => {
    const { head, rounds } = leagueSnapshot(league);
    const fewer = { ...JSON.parse(head), entrants: JSON.parse(head).entrants.slice(0, 2) };
    const damaged = [
      { head: head.replace('"format":8', '"format":7'), rounds },
      { head: head.slice(1), rounds },
      { head: JSON.stringify(fewer), rounds },
      { head, rounds: new Map([...rounds].slice(0, 1)) },
    ];
    expect(damaged.map(restoreLeague)).toEqual([null, null, null, null]);
  });
});
