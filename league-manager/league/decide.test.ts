import { describe, expect, it } from "vitest";
import { noLeague } from "./decide.ts";
import type { LeagueCommand } from "./league.ts";
import { afterCommands, CODENAMES, entered, given, pair, played, running, SETTINGS, START } from "./testing/leagues.ts";

const pairing = (match_id: string, ...players: string[]) => ({ match_id, players });
describe("the registration of a league", () => {
  it("begins with an event that has the properties of the config and the run", () => {
    const { leagueId, runId, seedCommitment, clock, game, roles, options, format } = SETTINGS;
    const config = { game, roles, options, format };
    const opened = { type: "opened", league_id: leagueId, run_id: runId, seed_commitment: seedCommitment } as const;
    given()
      .when({ type: "open", settings: SETTINGS })
      .leadsTo({ ...opened, ...config });
    given()
      .when({ type: "open", settings: { ...SETTINGS, formatOptions: { cycles: 2 }, tieBreaks: ["points"] } })
      .leadsTo({ ...opened, ...config, format_options: { cycles: 2 }, tie_breaks: ["points"] });
    expect(clock).toBeNull();
  });

  it("has the clocks of the config in its events, and applies a change of them", () => {
    const clock = { initial_ms: 60_000, increment_ms: 1_000 };
    const { game, roles, options, format } = SETTINGS;
    const withClock = { type: "open", settings: { ...SETTINGS, clock } } as const;
    const reconfigured = { type: "reconfigured", game, roles, options, format } as const;
    given({ type: "open", settings: SETTINGS })
      .when(withClock)
      .leadsTo({ ...reconfigured, clock });
    given(withClock).when(withClock).leadsTo();
    given(withClock).when({ type: "open", settings: SETTINGS }).leadsTo(reconfigured);
    expect(afterCommands([withClock]).league.clock).toEqual(clock);
    expect(afterCommands([withClock, { type: "open", settings: SETTINGS }]).league.clock).toBeNull();
  });

  it("rejects every other command before the league is opened", () => {
    given().when(START).isRejected("L005", "the league is not opened");
  });

  it("applies a changed config only before the start", () => {
    const { game, roles, format } = SETTINGS;
    const changed = { ...SETTINGS, options: { best_of: 3 } };
    const opened = given(...entered(["P01", "P02"]));
    opened.when({ type: "open", settings: SETTINGS }).leadsTo();
    opened
      .when({ type: "open", settings: changed })
      .leadsTo({ type: "reconfigured", game, roles, options: { best_of: 3 }, format });
    given(...running(["P01", "P02"]))
      .when({ type: "open", settings: changed })
      .leadsTo();
  });

  it("has one event for the entry of a player and one for its leaving", () => {
    const enter = { type: "enter", playerId: "P02", nameCommitment: "c" } as const;
    const withP01 = entered(["P01"]);
    given(...withP01)
      .when(enter)
      .leadsTo({ type: "player_entered", player_id: "P02", name_commitment: "c" });
    given(...withP01, enter)
      .when(enter)
      .leadsTo();
    given(...withP01)
      .when({ type: "leave", playerId: "P01" })
      .leadsTo({ type: "player_left", player_id: "P01" });
    given(...withP01)
      .when({ type: "leave", playerId: "P02" })
      .leadsTo();
  });

  it("is closed after the start: no player can enter, and one that leaves stays a player of the league", () => {
    const commands = running(["P01", "P02"]);
    const started = given(...commands);
    started
      .when({ type: "enter", playerId: "P03", nameCommitment: "c" })
      .isRejected("L001", "league rps is running and accepts no more players");
    const leave: LeagueCommand = { type: "leave", playerId: "P01", agentVersion: 7 };
    started.when(leave).leadsTo({ type: "player_left", player_id: "P01", agent_version: 7 });
    started.when({ ...leave, playerId: "P03" }).leadsTo();
    given(...commands, leave)
      .when(leave)
      .leadsTo();
    const { league } = afterCommands([...commands, leave]);
    expect([[...league.entrants.keys()], league.departed]).toEqual([["P01", "P02"], ["P01"]]);
  });
});

it("a request that names an unknown league is rejected with the leagues that exist", () => {
  const messages = [[], [SETTINGS, CODENAMES]].map((leagues) => noLeague("gone", leagues).message);
  expect(messages).toEqual(["no league gone; there are none", "no league gone; there are rps, codenames"]);
});

describe("the start of a league", () => {
  it("pairs every round of its players in the order of their ids", () => {
    given(...entered(["P03", "P01", "P02"]))
      .when(START)
      .leadsTo(
        { type: "started" },
        { type: "round_paired", round_id: 1, pairings: [pairing("R1M1", "P02", "P03")], byes: ["P01"] },
        { type: "round_paired", round_id: 2, pairings: [pairing("R2M1", "P01", "P02")], byes: ["P03"] },
        { type: "round_paired", round_id: 3, pairings: [pairing("R3M1", "P03", "P01")], byes: ["P02"] },
      );
  });

  it("is rejected with fewer players than the game has roles", () => {
    given(...entered(["P01"]))
      .when(START)
      .isRejected("L001", "league rps has 1 of at least 2 players", { retryable: true });
    given(...entered(["P01", "P02", "P03"], CODENAMES))
      .when(START)
      .isRejected("L001", "league codenames has 3 of at least 4 players", { retryable: true });
  });

  it("is rejected for a running league", () => {
    given(...running(["P01", "P02"]))
      .when(START)
      .isRejected("L005", "league rps is already running");
  });
});

describe("the completion of a league", () => {
  it("is accepted when the format has no more rounds, and has an event only once", () => {
    const unfinished = running(["P01", "P02"]);
    const ended = played(unfinished, "R1M1");
    given(...unfinished)
      .when(pair())
      .leadsTo();
    given(...ended)
      .when({ type: "complete" })
      .isRejected("L005", "league rps is running: its matches are not completed");
    given(...ended)
      .when(pair())
      .leadsTo({ type: "pairing_completed" });
    const finished = [...ended, pair()];
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
