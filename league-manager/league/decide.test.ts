import { describe, expect, it } from "vitest";
import type { LeagueCommand } from "./commands.ts";
import { afterCommands, CODENAMES, entered, given, running, SETTINGS, START } from "./testing/leagues.ts";

const pairing = (match_id: string, ...players: string[]) => ({ match_id, players });
const ASSIGN: LeagueCommand = { type: "assign", matchId: "R1M1", epoch: 1, refereeId: "REF01" };
const release = (
  epoch: number,
  reason: "unreachable" | "refused" | "overdue",
): Extract<LeagueCommand, { type: "release" }> => ({
  type: "release",
  matchId: "R1M1",
  epoch,
  reason,
  detail: "silent",
});
const assign = (epoch: number): LeagueCommand => ({ ...ASSIGN, epoch }) as LeagueCommand;

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

describe("a match that is taken from its referee", () => {
  const started = running(["P01", "P02"]);

  it("is assigned only under its current epoch", () => {
    given(...started)
      .when(ASSIGN)
      .leadsTo({ type: "match_assigned", match_id: "R1M1", epoch: 1, referee_id: "REF01" });
    given(...started)
      .when(assign(2))
      .isRejected("G005", "rps/R1M1 is scheduled under epoch 1");
    given(...started, ASSIGN)
      .when(ASSIGN)
      .isRejected("G005", "rps/R1M1 is assigned under epoch 1");
    given(...started)
      .when({ ...ASSIGN, matchId: "R2M1" })
      .isRejected("G003", "no match rps/R2M1");
  });

  it("is released, which raises its epoch", () => {
    const common = { match_id: "R1M1", referee_id: "REF01", detail: "silent" } as const;
    given(...started, ASSIGN)
      .when(release(1, "unreachable"))
      .leadsTo({ type: "match_released", epoch: 1, reason: "unreachable", ...common });
    given(...started, ASSIGN, release(1, "refused"), assign(2))
      .when(release(1, "refused"))
      .isRejected("G005", "rps/R1M1 is assigned under epoch 2");
  });

  it("is released with the first 300 characters of the detail", () => {
    given(...started, ASSIGN)
      .when({ ...release(1, "refused"), detail: "no".repeat(30_000) })
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
    const twice = [...started, ASSIGN, release(1, "overdue"), assign(2), release(2, "overdue"), assign(3)];
    given(...twice)
      .when(release(3, "overdue"))
      .leadsTo({ type: "match_aborted", match_id: "R1M1", epoch: 3, referee_id: null, reason: "silent", log_head: "" });
    given(...twice, release(3, "refused"), assign(4))
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
