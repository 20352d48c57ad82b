import { describe, expect, it } from "vitest";
import type { LeagueCommand } from "./league.ts";
import { summaryOf } from "./outcome.ts";
import { afterCommands, assign, entered, given, open, played, running, SETTINGS, START } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03", "P04"];
const started: readonly LeagueCommand[] = [...entered(PLAYERS), START];
const roundOne = played(played([...started, open(1)], "R1M1"), "R1M2");

describe("the opening of a round", () => {
  it("is accepted when all earlier rounds are completed, and has events only once", () => {
    given(...started)
      .when(open(1))
      .leadsTo({ type: "round_opened", round_id: 1, absent: [] });
    given(...started, open(1))
      .when(open(1))
      .leadsTo();
    given(...started)
      .when(open(2))
      .isRejected("L005", "league rps is running: round 2 is not the current one");
    given(...roundOne)
      .when(open(2))
      .leadsTo({ type: "round_opened", round_id: 2, absent: [] });
    for (const roundId of [0, 9])
      given(...started)
        .when(open(roundId))
        .isRejected("G003", `league rps has no round ${roundId}`);
  });

  it("forfeits the matches of players that are shut down", () => {
    const fault = { role: "player_2", code: "G002", cause: "timeout", detail: "the player is shut down" } as const;
    given(...started)
      .when(open(1, { P04: 7, P99: 1 }))
      .leadsTo(
        { type: "round_opened", round_id: 1, absent: [{ player_id: "P04", agent_version: 7 }] },
        {
          type: "match_completed",
          match_id: "R1M1",
          epoch: 1,
          referee_id: null,
          winner: "P01",
          final_scores: { P01: 0, P04: 0 },
          match_points: { P01: 3, P04: 0 },
          faults: [{ player_id: "P04", ...fault }],
          termination: "forfeit",
          reason: "shut_down",
          log_head: "",
        },
      );
  });

  it("forfeits the matches of players that the operator removed", () => {
    const { league, events } = afterCommands([...started, open(1, { P04: 7 }, ["P04"])]);
    const absent = [{ player_id: "P04", agent_version: 7, removed: true }];
    expect(events).toContainEqual(expect.objectContaining({ type: "round_opened", round_id: 1, absent }));
    const match = league.rounds.at(0)?.matches[0];
    expect(match && summaryOf(match)).toMatchObject({
      winner: "P01",
      termination: "forfeit",
      reason: "removed_by_operator",
      faults: [{ player_id: "P04", code: "G002", cause: "timeout", detail: "the operator removed the player" }],
    });
  });

  it("forfeits no match that is completed before its round is opened", () => {
    const annul = { type: "annul", matchId: "R1M1", reason: "" } as const;
    given(...started, annul)
      .when(open(1, { P04: 7 }))
      .leadsTo({ type: "round_opened", round_id: 1, absent: [{ player_id: "P04", agent_version: 7 }] });
  });

  it("gives each absent player of a forfeited match a fault with its cause", () => {
    const { league } = afterCommands([...started, open(1, { P01: 5, P04: 7 }, ["P04"])]);
    const match = league.rounds.at(0)?.matches[0];
    expect(match && summaryOf(match)).toMatchObject({
      reason: "shut_down",
      faults: [{ detail: "the player is shut down" }, { detail: "the operator removed the player" }],
    });
  });

  it("gives no player the win of a match that both players forfeit", () => {
    const { league } = afterCommands([...started, open(1, { P01: 1, P04: 1 })]);
    const [first, second] = league.rounds.at(0)?.matches ?? [];
    expect(first && summaryOf(first)).toMatchObject({ winner: null, match_points: { P01: 0, P04: 0 } });
    expect([first?.status, second?.status, league.currentRound]).toEqual(["completed", "scheduled", 1]);
  });
});

describe("the announcement of a round", () => {
  it("is accepted after the round is opened, and has an event only once", () => {
    const announce = { type: "announce_round", roundId: 1 } as const;
    given(...started)
      .when(announce)
      .isRejected("L005", "league rps is running: round 1 is not opened");
    given(...started, open(1))
      .when(announce)
      .leadsTo({ type: "round_announced", round_id: 1 });
    given(...started, open(1), announce)
      .when(announce)
      .leadsTo();
    given(...started)
      .when({ type: "announce_round", roundId: 9 })
      .isRejected("G003", "league rps has no round 9");
  });
});

describe("the time of a round", () => {
  const timed = running(PLAYERS, { ...SETTINGS, roundMs: 60_000 });
  const expire: LeagueCommand = { type: "expire_round", roundId: 1 };

  it("cancels the matches that are not completed, which count for no player", () => {
    given(...played(timed, "R1M1"))
      .when(expire)
      .leadsTo({ type: "round_expired", round_id: 1 }, { type: "match_cancelled", match_id: "R1M2", epoch: 1 });
    const { league } = afterCommands([...timed, assign("R1M1"), expire]);
    expect(league.rounds.at(0)).toMatchObject({ open: 0, isExpired: true });
    expect(league).toMatchObject({ currentRound: 2, withdrawals: [{ matchId: "R1M1" }] });
    given(...timed, expire)
      .when(expire)
      .leadsTo();
  });

  it("does not end in a league without such a limit, in a paused league and in a round that is completed or not opened", () => {
    for (const roundId of [2, 9])
      given(...timed)
        .when({ type: "expire_round", roundId })
        .leadsTo();
    given(...running(["P01", "P02"]))
      .when(expire)
      .leadsTo();
    given(...timed, { type: "pause" })
      .when(expire)
      .isRejected("L005", "league rps is paused");
    given(...played(played(timed, "R1M1"), "R1M2"))
      .when(expire)
      .leadsTo();
  });
});
