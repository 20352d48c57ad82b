import { describe, it } from "vitest";
import type { LeagueCommand } from "./league.ts";
import { assign, entered, given, open, played, running, SETTINGS } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03", "P04"];
const roundOne = played(played(running(PLAYERS), "R1M1"), "R1M2");

describe("the scheduling of a match", () => {
  const schedule = (roundId: number, ...players: string[]) => ({ type: "schedule", roundId, players }) as const;

  it("is accepted for the current round, a later round and a new last round", () => {
    const league = given(...roundOne, open(2));
    const added = { type: "match_scheduled", players: ["P01", "P03"] } as const;
    league.when(schedule(2, "P01", "P03")).leadsTo({ ...added, match_id: "R2M3", round_id: 2 });
    league.when(schedule(4, "P01", "P03")).leadsTo({ ...added, match_id: "R4M1", round_id: 4 });
  });

  it("is rejected for a completed round and beyond a new last round", () => {
    const league = given(...roundOne, open(2));
    const context = { first_round: 2, last_round: 4 };
    league
      .when(schedule(1, "P01", "P03"))
      .isRejected("G005", "round 1 is over; choose a round from 2 to 4", { context: { round_id: 1, ...context } });
    league
      .when(schedule(5, "P01", "P03"))
      .isRejected("G003", "there is no round 5; choose a round from 2 to 4", { context: { round_id: 5, ...context } });
  });

  it("is rejected unless its players are different players of the league, one for each role", () => {
    const league = given(...roundOne);
    league.when(schedule(2, "P01", "P09")).isRejected("L004", "P09 is not in league rps");
    const message = "a match of league rps is between 2 different players";
    league.when(schedule(2, "P01", "P01")).isRejected("L004", message);
    league.when(schedule(2, "P01", "P02", "P03")).isRejected("L004", message);
  });

  it("is rejected in a format whose pairings it would change", () => {
    given(...running(PLAYERS, { ...SETTINGS, format: "swiss" }))
      .when(schedule(1, "P01", "P02"))
      .isRejected(
        "L005",
        "league rps is a league of the format swiss, whose pairings an added match would change; matches can be added to a round robin",
      );
  });

  it("is rejected before the start of the league", () => {
    given(...entered(PLAYERS))
      .when(schedule(1, "P01", "P02"))
      .isRejected("L005", "league rps has not started; matches are added while it runs", { retryable: true });
  });
});

describe("a match that is taken from its referee", () => {
  const started = running(["P01", "P02"]);
  const release = (epoch: number, reason: "unreachable" | "refused" | "overdue", detail = "silent"): LeagueCommand => ({
    type: "release",
    matchId: "R1M1",
    epoch,
    reason,
    detail,
  });

  it("is assigned only under its current epoch", () => {
    given(...started)
      .when(assign("R1M1"))
      .leadsTo({ type: "match_assigned", match_id: "R1M1", epoch: 1, referee_id: "REF01" });
    given(...started)
      .when(assign("R1M1", 2))
      .isRejected("G005", "rps/R1M1 is scheduled under epoch 1");
    given(...started, assign("R1M1"))
      .when(assign("R1M1"))
      .isRejected("G005", "rps/R1M1 is assigned under epoch 1");
    given(...started)
      .when(assign("R2M1"))
      .isRejected("G003", "no match rps/R2M1");
    given(...running(PLAYERS))
      .when(assign("R2M1"))
      .isRejected("G005", "rps/R2M1 is scheduled under epoch 1");
  });

  it("is released, which raises its epoch", () => {
    const common = { match_id: "R1M1", referee_id: "REF01", detail: "silent" } as const;
    given(...started, assign("R1M1"))
      .when(release(1, "unreachable"))
      .leadsTo({ type: "match_released", epoch: 1, reason: "unreachable", ...common });
    given(...started, assign("R1M1"), release(1, "refused"), assign("R1M1", 2))
      .when(release(1, "refused"))
      .isRejected("G005", "rps/R1M1 is assigned under epoch 2");
    given(...played(started, "R1M1"))
      .when(release(1, "overdue"))
      .isRejected("G005", "rps/R1M1 is completed under epoch 1");
    given(...started)
      .when({ ...release(1, "overdue"), matchId: "R2M1" } as LeagueCommand)
      .isRejected("G003", "no match rps/R2M1");
  });

  it("is withdrawn until this referee has acknowledged this match", () => {
    const settle = { type: "settle_withdrawal", matchId: "R1M1", epoch: 1, refereeId: "REF01" } as const;
    const released = given(...started, assign("R1M1"), release(1, "unreachable"));
    released.when(settle).leadsTo({ type: "withdrawal_settled", match_id: "R1M1", epoch: 1, referee_id: "REF01" });
    for (const other of [{ matchId: "R1M2" }, { epoch: 2 }, { refereeId: "REF02" }])
      released.when({ ...settle, ...other }).leadsTo();
  });

  it("is released with the first 300 characters of the detail", () => {
    given(...started, assign("R1M1"))
      .when(release(1, "refused", "no".repeat(30_000)))
      .leadsTo({
        type: "match_released",
        match_id: "R1M1",
        epoch: 1,
        referee_id: "REF01",
        reason: "refused",
        detail: "no".repeat(150),
      });
  });

  it("is completed as aborted when it is overdue for the third time, and never because referees are unreachable or reject it", () => {
    const twice = [
      ...started,
      assign("R1M1"),
      release(1, "overdue"),
      assign("R1M1", 2),
      release(2, "overdue"),
      assign("R1M1", 3),
    ];
    given(...twice)
      .when(release(3, "overdue"))
      .leadsTo({ type: "match_aborted", match_id: "R1M1", epoch: 3, referee_id: null, reason: "silent", log_head: "" });
    given(...twice, release(3, "refused"), assign("R1M1", 4))
      .when(release(4, "unreachable"))
      .leadsTo({
        type: "match_released",
        match_id: "R1M1",
        epoch: 4,
        referee_id: "REF01",
        reason: "unreachable",
        detail: "silent",
      });
  });
});
