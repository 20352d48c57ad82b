import { describe, expect, it } from "vitest";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { replayInAdvance } from "../league/result-check.ts";
import { removePlayer } from "./agent-commands.ts";
import { openRound, startLeague } from "./league-commands.ts";
import { assignMatch, reportResult } from "./match-commands.ts";
import { given, givenState, open, player, startedLeague, stateAfter } from "./testing/commands.ts";
import { aborted, lost, SEED, won } from "./testing/results.ts";

// Four players: P01-P04 and P02-P03, then P04-P03 and P01-P02, then P02-P04 and P03-P01.
const R1M1 = { matchId: "R1M1", players: ["P01", "P04"] } as const;
const R1M2 = { matchId: "R1M2", players: ["P02", "P03"] } as const;
const assign = (matchId: string, epoch = 1) => assignMatch({ leagueId: "rps", matchId, epoch, refereeId: "REF01" });
const report = (result: Parameters<typeof reportResult>[0], refereeId = "REF01") =>
  reportResult(result, refereeId, SEED);
const assigned = [...startedLeague("rps", 4), openRound("rps", 1), assign("R1M1"), assign("R1M2")];

describe("the result of a match", () => {
  it("is recorded once, with the session log", () => {
    const result = won(R1M1);
    given(...assigned)
      .when(report(result))
      .leadsTo("rps match_completed")
      .replies({ status: "RECORDED" })
      .writes({ type: "session_log", leagueId: "rps", matchId: "R1M1", epoch: 1, seed: SEED, log: result.log });
    given(...assigned, report(result))
      .when(report(result))
      .leadsTo()
      .replies({ status: "ALREADY_RECORDED" })
      .writes();
  });

  it("is not replayed again if its referee has the match and its log was replayed in advance", () => {
    let replays = 0;
    const counted = (result: MatchResult): MatchResult => {
      const entries = () => {
        replays++;
        return result.log.entries();
      };
      return { ...result, log: Object.assign([...result.log], { entries }) };
    };
    const leagueOf = (state: ReturnType<typeof stateAfter>) => state.leagues.get("rps") ?? null;
    const state = stateAfter(assigned);
    const league = leagueOf(state);
    const result = counted(won(R1M1));
    replayInAdvance(null, result, "REF01", SEED);
    replayInAdvance(league, result, "REF02", SEED);
    replayInAdvance(league, { ...result, epoch: 2 }, "REF01", SEED);
    replayInAdvance(leagueOf(stateAfter([...assigned, report(won(R1M1))])), result, "REF01", SEED);
    expect(replays).toBe(0);
    replayInAdvance(league, result, "REF01", SEED);
    expect(replays).toBe(1);
    for (let times = 0; times < 2; times++) givenState(state).when(report(result)).leadsTo("rps match_completed");
    expect(replays).toBe(1);
  });

  it("is recorded once if one batch contains it twice", () => {
    const first = stateAfter([...assigned, report(won(R1M1))]);
    givenState(first)
      .when(report(won(R1M1)))
      .leadsTo()
      .replies({ status: "ALREADY_RECORDED" });
    const other = given(...assigned, report(won(R1M1))).when(report(lost(R1M1)));
    other.isRejected("G001", "another result of rps/R1M1 is recorded: normal, winner P01");
  });

  it("is rejected for an unknown league or match, and for another referee or epoch", () => {
    const { when } = given(...assigned);
    when(report({ ...won(R1M1), league_id: "gone" })).isRejected("L005", "no league gone; there are rps");
    when(report({ ...won(R1M1), match_id: "R1M9" })).isRejected("G003", "no match rps/R1M9");
    when(report(won(R1M1), "REF02")).isRejected("L004", "rps/R1M1 is not assigned to REF02 under epoch 1");
    when(report(won({ ...R1M1, epoch: 2 }))).isRejected("L004", "rps/R1M1 is not assigned to REF01 under epoch 2");
  });

  it("counts as an abort if it contradicts its log, and the reply has the fault", () => {
    const impossible = won(R1M1, { winner: "P04" });
    const { state } = given(...assigned)
      .when(report(impossible))
      .leadsTo("rps match_released")
      .replies({ status: "FAULTY", fault: { error_code: "G001" } })
      .writes();
    expect(state.leagues.get("rps")?.rounds.at(0)?.matches[0]).toMatchObject({
      status: "scheduled",
      epoch: 2,
      aborts: 1,
    });
  });

  it("aborts the match the third time if it contradicts its log or is an abort", () => {
    const again = (epoch: number) => [assign("R1M1", epoch), report(aborted({ ...R1M1, epoch }))];
    const twice = [...startedLeague("rps", 4), openRound("rps", 1), ...again(1), ...again(2), assign("R1M1", 3)];
    const impossible = won({ ...R1M1, epoch: 3 }, { winner: "P04" });
    given(...twice)
      .when(report(impossible))
      .leadsTo("rps match_aborted")
      .replies({ status: "FAULTY" })
      .writes();
    given(...twice)
      .when(report(aborted({ ...R1M1, epoch: 3 })))
      .leadsTo("rps match_aborted")
      .replies({ status: "RECORDED" });
  });
});

describe("the players of a match", () => {
  it("are suspended by a loss by timeout, in the same append", () => {
    const { state } = given(...assigned)
      .when(report(lost(R1M1)))
      .leadsTo("rps match_completed", "P04 timed_out");
    expect(state.agents.get("P04")).toMatchObject({ state: "SUSPENDED", fails: 1 });
    expect(state.agents.get("P01")).toMatchObject({ state: "ACTIVE", fails: 0 });
  });

  it("recover by a match without a timeout", () => {
    const secondRound = [...assigned, report(lost(R1M1)), report(won(R1M2)), openRound("rps", 2), assign("R2M1")];
    const R2M1 = { matchId: "R2M1", players: ["P04", "P03"] } as const;
    const { state } = given(...secondRound)
      .when(report(won(R2M1)))
      .leadsTo("rps match_completed", "P04 answered");
    expect(state.agents.get("P04")).toMatchObject({ state: "ACTIVE", fails: 0 });
  });

  it("are not changed by an abort, by another fault, or while they are shut down", () => {
    given(...assigned)
      .when(report(aborted(R1M1)))
      .leadsTo("rps match_released");
    given(...assigned)
      .when(report(lost(R1M1, null)))
      .leadsTo("rps match_completed");
    const removed = [...assigned, removePlayer("P04")];
    given(...removed)
      .when(report(lost(R1M1)))
      .leadsTo("rps match_completed");
  });

  it("are shut down by the third timeout in a row, counted over all their leagues", () => {
    const timeouts = (leagueId: string) => [
      openRound(leagueId, 1),
      assignMatch({ leagueId, matchId: "R1M1", epoch: 1, refereeId: "REF01" }),
      report(lost({ leagueId, matchId: "R1M1", players: ["P01", "P02"] })),
    ];
    const leagueIds = ["rps", "b", "c"];
    const leagues = [
      open(...leagueIds, "open"),
      ...startedLeague("rps", 2),
      startLeague("b", "seed"),
      startLeague("c", "seed"),
    ];
    const state = stateAfter([...leagues, ...leagueIds.flatMap(timeouts)]);
    expect(state.agents.get("P02")).toMatchObject({ state: "SHUTDOWN", fails: 3 });
    expect(state.agents.get("P01")).toMatchObject({ state: "ACTIVE", fails: 0 });
    // The player is not renewed although it is in an open league, because its other leagues are running.
    const again = player("player 2", { port: 2 });
    givenState(state)
      .when(again)
      .leadsTo()
      .replies({ leagueIds: [...leagueIds, "open"] });
  });
});

it("a suspended player that registers again is active and keeps its count of timeouts", () => {
  const { state } = given(...assigned, report(lost(R1M1)))
    .when(player("player 4", { port: 4 }))
    .leadsTo("P04 recovered");
  expect(state.agents.get("P04")).toMatchObject({ state: "ACTIVE", fails: 1 });
});
