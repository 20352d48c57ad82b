import { describe, test } from "vitest";
import type { ManagerState } from "../ledger.ts";
import { openRound } from "./league-commands.ts";
import { assignMatch, releaseMatches, settleWithdrawal } from "./match-commands.ts";
import { givenState, startedLeague, stateAfter } from "./testing/commands.ts";

describe("the assignment of a match", () => {
  const assign = (leagueId: string, matchId: string, epoch = 1) =>
    assignMatch({ leagueId, matchId, epoch, refereeId: "REF01" });
  const full = { code: "G005", message: "referee REF01 has no free capacity for rps/R1M2" } as const;
  const twoLeagues = [...startedLeague("rps", 4), ...startedLeague("b", 2), openRound("rps", 1), openRound("b", 1)];

  test("is rejected while its referee has its maximum number of matches over all leagues", () => {
    const occupied = stateAfter([...twoLeagues, assign("rps", "R1M1"), assign("b", "R1M1")]);
    givenState(occupied).when(assign("rps", "R1M2")).isRejected(full.code, full.message);
  });

  test("is rejected while a withdrawn match is not acknowledged, and then accepted", () => {
    const release = { leagueId: "b", matchId: "R1M1", epoch: 1, reason: "overdue", detail: "late" } as const;
    const withdrawn = [...twoLeagues, assign("rps", "R1M1"), assign("b", "R1M1"), releaseMatches([release])];
    givenState(stateAfter(withdrawn)).when(assign("rps", "R1M2")).isRejected(full.code, full.message);
    const settled = settleWithdrawal({ leagueId: "b", matchId: "R1M1", epoch: 1, refereeId: "REF01" });
    givenState(stateAfter([...withdrawn, settled]))
      .when(assign("rps", "R1M2"))
      .leadsTo("rps match_assigned");
  });
});

describe("a player of another dialect", () => {
  const assign = (leagueId: string) => assignMatch({ leagueId, matchId: "R1M1", epoch: 1, refereeId: "REF01" });
  const release = releaseMatches([{ leagueId: "rps", matchId: "R1M1", epoch: 1, reason: "overdue", detail: "late" }]);
  const settled = settleWithdrawal({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF01" });
  const opened = [...startedLeague("rps", 2), ...startedLeague("b", 2), openRound("rps", 1), openRound("b", 1)];
  const withDialect = (state: ManagerState, id: string): ManagerState => {
    const agent = state.agents.get(id);
    if (!agent) throw new Error(`no ${id}`);
    return { ...state, agents: new Map(state.agents).set(id, { ...agent, dialect: "league.v1" }) };
  };

  test("has one match at a time over all leagues, and the next one when the first is no longer assigned", () => {
    const first = withDialect(stateAfter([...opened, assign("rps")]), "P02");
    givenState(first).when(assign("b")).isRejected("G005", "player P02 has another match than b/R1M1");
    givenState(first).when(assign("rps")).isRejected("G005", "rps/R1M1 is assigned under epoch 1");
    givenState(withDialect(stateAfter([...opened, assign("rps"), release, settled]), "P02"))
      .when(assign("b"))
      .leadsTo("b match_assigned");
  });

  test("does not concern players of the native dialect, which have several matches at the same time", () => {
    givenState(stateAfter([...opened, assign("rps")]))
      .when(assign("b"))
      .leadsTo("b match_assigned");
  });
});

describe("a match that is taken from its referee", () => {
  const assigned = stateAfter([
    ...startedLeague("rps", 2),
    openRound("rps", 1),
    assignMatch({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF01" }),
  ]);
  const release = releaseMatches([
    { leagueId: "rps", matchId: "R1M1", epoch: 1, reason: "unreachable", detail: "it does not answer" },
  ]);

  test("causes a withdrawal, which the referee must acknowledge", () => {
    givenState(assigned).when(release).leadsTo("rps match_released");
  });

  test("causes a settled withdrawal if the referee is no longer registered", () => {
    const agents = new Map([...assigned.agents].filter(([id]) => id !== "REF01"));
    givenState({ ...assigned, agents })
      .when(release)
      .leadsTo("rps match_released", "rps withdrawal_settled");
  });
});
