import { describe, expect, it } from "vitest";
import { forgetPlayer, removePlayer } from "./agent-commands.ts";
import { announceRound, completeLeague, openRound, pairLeague } from "./league-commands.ts";
import { assignMatch, reportResult } from "./match-commands.ts";
import { given, givenState, open, player, startedLeague, stateAfter, tokenOf } from "./testing/commands.ts";
import { lost, SEED } from "./testing/results.ts";

const play = (matchId: string, players: readonly [string, string]) => [
  assignMatch({ leagueId: "rps", matchId, epoch: 1, refereeId: "REF01" }),
  reportResult(lost({ leagueId: "rps", matchId, players }), "REF01", SEED),
];
/** Three players; P01 has a bye in the first round, and P02 plays P03. */
const firstRound = [...startedLeague("rps", 3), openRound("rps", 1)];
const completed = [
  ...startedLeague("rps", 2),
  openRound("rps", 1),
  announceRound("rps", 1),
  ...play("R1M1", ["P01", "P02"]),
  pairLeague("rps", "seed", 0),
  completeLeague("rps"),
];

describe("forgetPlayer", () => {
  it("erases the profile of a player of a completed league, and keeps the player under its id", () => {
    const { state } = given(...completed)
      .when(forgetPlayer("P01"))
      .leadsTo("P01 erased")
      .writes({ type: "erase_profile", agentId: "P01" })
      .replies({ playerId: "P01" });
    expect(state.agents.get("P01")).toMatchObject({
      name: "P01",
      salt: "",
      endpoint: "",
      tokenHash: "",
      state: "SHUTDOWN",
    });
  });

  it("removes a player of a running league and erases its profile, if its round is not under way", () => {
    const { state } = given(...firstRound)
      .when(forgetPlayer("P01"))
      .leadsTo("rps player_left", "P01 removed", "P01 erased")
      .writes({ type: "erase_profile", agentId: "P01" });
    const next = stateAfter([announceRound("rps", 1), ...play("R1M1", ["P02", "P03"])], state);
    givenState(next).when(openRound("rps", 2)).leadsTo("rps round_opened", "rps match_completed");
  });

  it("forgets a player of an open league as removePlayer does", () => {
    given(open("rps"), player("Ann", { port: 1 }))
      .when(forgetPlayer("P01"))
      .leadsTo("rps player_left", "P01 forgotten")
      .writes({ type: "erase_profile", agentId: "P01" });
  });

  it("erases a player that was removed before, once", () => {
    const { state } = given(...completed, removePlayer("P01"))
      .when(forgetPlayer("P01"))
      .leadsTo("P01 erased")
      .writes({ type: "erase_profile" });
    givenState(state).when(forgetPlayer("P01")).leadsTo().replies({ playerId: "P01" });
  });

  it("rejects a player whose match is under way, and an unknown player", () => {
    const message = "P02 has a match to play (rps/R1M1): remove it now, and forget it when the match is over";
    given(...firstRound)
      .when(forgetPlayer("P02"))
      .isRejected("L001", message);
    given(open("rps")).when(forgetPlayer("P09")).isRejected("L004", "no player P09 is registered");
  });

  it("frees the name: the same person can register as another player", () => {
    const state = stateAfter([...completed, forgetPlayer("P01"), open("b")]);
    const again = player("player 1", { port: 1, token: tokenOf("player 1") });
    givenState(state).when(again).leadsTo("b player_entered", "P03 registered");
  });
});
