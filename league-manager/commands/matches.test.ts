import { describe, test } from "vitest";
import { assignMatch, releaseMatches } from "./matches.ts";
import { openRound } from "./rounds.ts";
import { givenState, startedLeague, stateAfter } from "./testing/commands.ts";

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
