import { describe, expect, test } from "vitest";
import { leaveReferee } from "./agent-commands.ts";
import { openRound } from "./league-commands.ts";
import { assignMatch, releaseMatch } from "./match-commands.ts";
import { given, givenState, open, player, referee, startedLeague, stateAfter } from "./testing/commands.ts";

const assign = (leagueId: string, matchId: string, refereeId = "REF01") =>
  assignMatch({ leagueId, matchId, epoch: 1, refereeId });

describe("a referee that leaves", () => {
  const running = [
    ...startedLeague("rps", 4),
    ...startedLeague("b", 2),
    referee("other", { port: 9001 }),
    openRound("rps", 1),
    openRound("b", 1),
  ];

  test("loses its matches of all leagues and its place in the append that forgets it", () => {
    const { state } = given(...running, assign("rps", "R1M1"), assign("rps", "R1M2", "REF02"), assign("b", "R1M1"))
      .when(leaveReferee("REF01"))
      .leadsTo(
        "rps match_released",
        "b match_released",
        "rps withdrawal_settled",
        "b withdrawal_settled",
        "REF01 forgotten",
      )
      .writes({ type: "erase_profile", agentId: "REF01" });
    const matches = [...state.leagues.values()].map(({ rounds }) =>
      rounds.at(0)?.matches.map(({ epoch, status, refereeId, aborts }) => [epoch, status, refereeId, aborts]),
    );
    expect(matches).toEqual([
      [
        [2, "scheduled", null, 0],
        [1, "assigned", "REF02", 0],
      ],
      [[2, "scheduled", null, 0]],
    ]);
    expect([...state.leagues.values()].map(({ occupied }) => [...occupied])).toEqual([[["REF02", 1]], []]);
  });

  test("settles the withdrawals that it has not acknowledged", () => {
    const release = { leagueId: "b", matchId: "R1M1", epoch: 1, reason: "overdue", detail: "late" } as const;
    given(...running, assign("b", "R1M1"), releaseMatch(release))
      .when(leaveReferee("REF01"))
      .leadsTo("b withdrawal_settled", "REF01 forgotten");
  });

  test("that is not registered, or a player, is rejected", () => {
    const state = stateAfter([open("rps"), player("Ann")]);
    givenState(state).when(leaveReferee("REF01")).isRejected("L004", "no referee REF01 is registered");
    givenState(state).when(leaveReferee("P01")).isRejected("L004", "no referee P01 is registered");
  });
});
