import { describe, expect, it } from "vitest";
import type { LeagueCommand } from "./commands.ts";
import { summaryOf } from "./outcome.ts";
import {
  afterCommands,
  entered,
  given,
  pair,
  resultOf,
  running,
  SEED,
  SETTINGS,
  START,
  WON,
} from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03", "P04"];
const started: readonly LeagueCommand[] = [...entered(PLAYERS), START];

/** Appends the commands that play a match, which its first player wins. */
function withWin(commands: readonly LeagueCommand[], matchId: string): readonly LeagueCommand[] {
  const assigned = [...commands, { type: "assign", matchId, epoch: 1, refereeId: "REF01" }] as const;
  const { league } = afterCommands(assigned);
  const match = league.rounds.flatMap(({ matches }) => matches).find((candidate) => candidate.matchId === matchId);
  if (!match) throw new Error(`no match ${matchId}`);
  return [...assigned, { type: "report", result: resultOf(league, match, WON), refereeId: "REF01", seed: SEED }];
}

const open = (
  roundId: number,
  shutDown: Readonly<Record<string, number>> = {},
  removed: readonly string[] = [],
): LeagueCommand => ({
  type: "open_round",
  ...{ roundId, shutDown: new Map(Object.entries(shutDown)), removed: new Set(removed) },
});
const roundOne = withWin(withWin([...started, open(1)], "R1M1"), "R1M2");

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
    given(...started)
      .when(open(9))
      .isRejected("G003", "league rps has no round 9");
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
    const match = league.rounds[0]?.matches[0];
    expect(match && summaryOf(match)).toMatchObject({
      ...{ winner: "P01", termination: "forfeit", reason: "removed_by_operator" },
      faults: [{ player_id: "P04", code: "G002", cause: "timeout", detail: "the operator removed the player" }],
    });
  });

  it("gives each absent player of a forfeited match a fault with its cause", () => {
    const { league } = afterCommands([...started, open(1, { P01: 5, P04: 7 }, ["P04"])]);
    const match = league.rounds[0]?.matches[0];
    expect(match && summaryOf(match)).toMatchObject({
      reason: "shut_down",
      faults: [{ detail: "the player is shut down" }, { detail: "the operator removed the player" }],
    });
  });

  it("gives no player the win of a match that both players forfeit", () => {
    const { league } = afterCommands([...started, open(1, { P01: 1, P04: 1 })]);
    const [first, second] = league.rounds[0]?.matches ?? [];
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
  });
});

describe("the scheduling of a match", () => {
  const schedule = (roundId: number, ...players: string[]) => ({ type: "schedule", roundId, players }) as const;

  it("is accepted for the current round, a later round and a new last round", () => {
    const running = given(...roundOne, open(2));
    const added = { type: "match_scheduled", players: ["P01", "P03"] } as const;
    running.when(schedule(2, "P01", "P03")).leadsTo({ ...added, match_id: "R2M3", round_id: 2 });
    running.when(schedule(4, "P01", "P03")).leadsTo({ ...added, match_id: "R4M1", round_id: 4 });
  });

  it("is rejected for a completed round and beyond a new last round", () => {
    const running = given(...roundOne, open(2));
    const context = { first_round: 2, last_round: 4 };
    running
      .when(schedule(1, "P01", "P03"))
      .isRejected("G005", "round 1 is over; choose a round from 2 to 4", { context: { round_id: 1, ...context } });
    running
      .when(schedule(5, "P01", "P03"))
      .isRejected("G003", "there is no round 5; choose a round from 2 to 4", { context: { round_id: 5, ...context } });
  });

  it("is rejected unless its players are different players of the league, one for each role", () => {
    const running = given(...roundOne);
    running.when(schedule(2, "P01", "P09")).isRejected("L004", "P09 is not in league rps");
    const message = "a match of league rps is between 2 different players";
    running.when(schedule(2, "P01", "P01")).isRejected("L004", message);
    running.when(schedule(2, "P01", "P02", "P03")).isRejected("L004", message);
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

describe("the completion of a league", () => {
  it("is accepted when the format has no more rounds, and has an event only once", () => {
    const unfinished = running(["P01", "P02"]);
    const played = withWin(unfinished, "R1M1");
    given(...unfinished)
      .when(pair())
      .leadsTo();
    given(...played)
      .when({ type: "complete" })
      .isRejected("L005", "league rps is running: its matches are not completed");
    given(...played)
      .when(pair())
      .leadsTo({ type: "pairing_completed" });
    const finished = [...played, pair()];
    given(...finished)
      .when(pair())
      .leadsTo();
    given(...unfinished)
      .when({ type: "complete" })
      .isRejected("L005", "league rps is running: its matches are not completed");
    given(...finished)
      .when({ type: "complete" })
      .leadsTo({ type: "completed" });
    given(...finished, { type: "complete" })
      .when({ type: "complete" })
      .leadsTo();
    given(...finished, { type: "complete" })
      .when({ type: "schedule", roundId: 1, players: ["P01", "P02"] })
      .isRejected("L005", "all matches of league rps are completed; no match can be added", { retryable: false });
  });
});
