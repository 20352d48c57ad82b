import { describe, expect, it } from "vitest";
import type { Decide } from "../ledger.ts";
import { recoverPlayer, removePlayer, resetToken } from "./agent-commands.ts";
import {
  announceRound,
  completeLeague,
  openLeague,
  openLeagues,
  openRound,
  pairLeague,
  startLeague,
} from "./league-commands.ts";
import { assignMatch, releaseMatches, reportResult } from "./match-commands.ts";
import {
  EMPTY_STATE,
  formerLeague,
  given,
  givenState,
  open,
  POLICY,
  player,
  playerPlace,
  referee,
  settingsOf,
  startedLeague,
  stateAfter,
  tokenOf,
} from "./testing/commands.ts";
import { aborted, lost, SEED } from "./testing/results.ts";

const start = (leagueId: string) => startLeague(leagueId, "seed");
const twoPlayers = [open("rps"), player("A", { port: 1 }), player("B", { port: 2 })];
const report = (result: Parameters<typeof reportResult>[0]) => reportResult(result, "REF01", SEED);
const assign = (matchId: string, leagueId = "rps", epoch = 1) =>
  assignMatch({ leagueId, matchId, epoch, refereeId: "REF01" });
/** The commands that play the only match of a started league of two players. */
const playLeague = (leagueId: string): readonly Decide<unknown>[] => [
  openRound(leagueId, 1),
  assign("R1M1", leagueId),
  report(lost({ leagueId, matchId: "R1M1", players: ["P01", "P02"] })),
];

describe("open leagues", () => {
  it("are opened once and are reconfigured by a changed config until they start", () => {
    given().when(open("rps", "b")).leadsTo("rps opened", "b opened");
    given(open("rps")).when(open("rps", "b")).leadsTo("b opened");
    const changed = openLeagues([settingsOf("rps", "even_odd.v1")]);
    const { state } = given(open("rps")).when(changed).leadsTo("rps reconfigured");
    expect(state.leagues.get("rps")?.game).toBe("even_odd.v1");
    given(...startedLeague("rps", 2))
      .when(changed)
      .leadsTo();
  });
});

describe("a league that is opened like another one", () => {
  const over = [...startedLeague("rps", 2), ...playLeague("rps"), pairLeague("rps", "seed", 0), completeLeague("rps")];
  /** The command that opens a league at a manager whose config has the league `rps` only. */
  const openLike = (leagueId: string, like: string, policy = POLICY) =>
    openLeague(policy, { leagueId, like }, (configId) =>
      configId === "rps" ? { ...settingsOf(leagueId), like: configId } : null,
    );

  it("has the settings of the league of the config that the other one follows, and takes players", () => {
    const { state } = given(...over)
      .when(openLike("second", "rps"))
      .leadsTo("second opened")
      .replies({ configId: "rps" });
    expect(state.leagues.get("second")).toMatchObject({ status: "open", like: "rps", game: "rps.v1" });
    givenState(state)
      .when(player("player 1", { port: 1 }))
      .leadsTo("second player_entered", "P01 renewed")
      .replies({ leagueIds: ["rps", "second"] });
    const played = [
      ...over,
      openLike("second", "rps"),
      player("player 1", { port: 1 }),
      player("player 2", { port: 2 }),
      start("second"),
      ...playLeague("second"),
      pairLeague("second", "seed", 0),
      completeLeague("second"),
    ];
    const third = given(...played)
      .when(openLike("third", "second"))
      .replies({ configId: "rps" });
    expect(third.state.leagues.get("third")).toMatchObject({ like: "rps" });
  });

  it("has the players that the config lists by endpoint, which do not register themselves", () => {
    const places = [
      playerPlace("P01", "player 1", "http://127.0.0.1:1/mcp"),
      playerPlace("P02", "player 2"),
      playerPlace("P03", "absent", "http://127.0.0.1:3/mcp"),
    ];
    given(...over)
      .when(openLike("second", "rps", { ...POLICY, places }))
      .leadsTo("second opened", "second player_entered", "P01 renewed");
    given(...over, removePlayer("P01"))
      .when(openLike("second", "rps", { ...POLICY, places, maxPlayers: new Map([["rps", 0]]) }))
      .leadsTo("second opened");
  });

  it("is rejected if the other one is unknown or not over, if its name is in use, and in a run with a roster", () => {
    given(...over)
      .when(openLike("second", "gone"))
      .isRejected("L005", "no league gone; there are rps", { context: { league_id: "gone", cause: "unknown_league" } });
    for (const [commands, status] of [
      [[open("rps")], "open"],
      [startedLeague("rps", 2), "running"],
    ] as const)
      given(...commands)
        .when(openLike("second", "rps"))
        .isRejected("L005", `league rps is ${status}: a league like it can be opened when it is over`, {
          context: { league_id: "rps", cause: "league_not_over" },
        });
    const inUse = (id: string) => `the name ${id} is in use: a league of this run has it; choose another`;
    given(...over)
      .when(openLike("rps", "rps"))
      .isRejected("L003", inUse("rps"));
    givenState({ ...stateAfter(over), formerLeagues: [formerLeague("completed")] })
      .when(openLike("former", "rps"))
      .isRejected("L003", inUse("former"));
    given(...over)
      .when(openLike("second", "rps", { ...POLICY, startWhen: "roster" }))
      .isRejected(
        "L005",
        "this run plays only the leagues of its config: league serve runs a manager that can open others",
      );
  });

  it("is limited: a run has at most 1,000 leagues", () => {
    const formerLeagues = Array.from({ length: 999 }, (_, index) => ({
      ...formerLeague("completed"),
      leagueId: `former ${index}`,
    }));
    givenState({ ...stateAfter(over), formerLeagues })
      .when(openLike("second", "rps"))
      .isRejected("L002", "the run has 1000 leagues, which is the maximum: serve new ones with --data FOLDER");
  });
});

describe("the start of a league", () => {
  it("pairs the rounds and activates players and referees in one append", () => {
    given(...twoPlayers, referee("R"))
      .when(start("rps"))
      .leadsTo("rps started", "rps round_paired", "P01 activated", "P02 activated", "REF01 activated")
      .replies({ matches: 1 });
  });

  it("does not change agents that are active or shut down", () => {
    const first = [...startedLeague("rps", 2), removePlayer("P02"), open("b")];
    const next = stateAfter([...first, player("player 1", { port: 1 }), player("C", { port: 3 })]);
    const { state } = givenState(next).when(start("b")).leadsTo("b started", "b round_paired", "P03 activated");
    expect(state.agents.get("P02")?.state).toBe("SHUTDOWN");
  });

  it("is rejected for an unknown league, for a running league, without two players and without a referee", () => {
    given(...twoPlayers)
      .when(start("gone"))
      .isRejected("L005", "no league gone; there are rps");
    given(...startedLeague("rps", 2))
      .when(start("rps"))
      .isRejected("L005", "league rps is already running");
    given(open("rps"), player("A"), referee("R"))
      .when(start("rps"))
      .isRejected("L001", "league rps has 1 of at least 2 players", { retryable: true });
    given(...twoPlayers)
      .when(start("rps"))
      .isRejected("L001", "no referee is registered yet", { retryable: true });
  });
});

describe("a round", () => {
  it("is opened with the forfeits of players that are shut down", () => {
    const removed = [...startedLeague("rps", 4), removePlayer("P04")];
    const { state } = given(...removed)
      .when(openRound("rps", 1))
      .leadsTo("rps round_opened", "rps match_completed");
    const { version } = state.agents.get("P04") ?? {};
    expect(version).toBe(3);
    const opened = openRound("rps", 1)(stateAfter(removed), "");
    expect(opened).toMatchObject({
      value: {
        leagueEvents: [{ event: { absent: [{ player_id: "P04", agent_version: version, removed: true }] } }, {}],
      },
    });
    expect(state.leagues.get("rps")?.rounds.at(0)?.matches[0]).toMatchObject({
      players: ["P01", "P04"],
      outcome: { winner: 0 },
    });
  });

  it("can be announced only after it was opened, and only once", () => {
    const started = startedLeague("rps", 2);
    expect(announceRound("rps", 1)(stateAfter(started), "")).toMatchObject({ ok: false });
    given(...started, openRound("rps", 1))
      .when(announceRound("rps", 1))
      .leadsTo("rps round_announced");
    given(...started, openRound("rps", 1), announceRound("rps", 1))
      .when(announceRound("rps", 1))
      .leadsTo();
    expect(openRound("gone", 1)(EMPTY_STATE, "")).toMatchObject({ error: { error_code: "L005" } });
  });
});

describe("matches and referees", () => {
  const opened = [...startedLeague("rps", 4), openRound("rps", 1)];

  it("a match is assigned once, and only to a registered referee", () => {
    given(...opened)
      .when(assign("R1M1"))
      .leadsTo("rps match_assigned");
    const toUnknown = assignMatch({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF09" });
    given(...opened)
      .when(toUnknown)
      .isRejected("L004", "no referee REF09 is registered");
    given(...opened, assign("R1M1"))
      .when(assign("R1M1"))
      .isRejected("G005", "rps/R1M1 is assigned under epoch 1");
  });

  it("matches are released in one append, except those that are already completed or released", () => {
    const release = (matchId: string) =>
      ({ leagueId: "rps", matchId, epoch: 1, reason: "unreachable", detail: "silent" }) as const;
    const assigned = [...opened, assign("R1M1"), assign("R1M2")];
    const all = releaseMatches([release("R1M1"), release("R1M2")]);
    given(...assigned)
      .when(all)
      .leadsTo("rps match_released", "rps match_released");
    given(...assigned, releaseMatches([release("R1M2")]))
      .when(all)
      .leadsTo("rps match_released");
    given(...assigned, all)
      .when(all)
      .leadsTo();
  });
});

describe("the end of a league", () => {
  const played = [...startedLeague("rps", 2), ...playLeague("rps"), pairLeague("rps", "seed", 0)];

  it("dismisses its players, and after the last league the referees", () => {
    given(...played)
      .when(completeLeague("rps"))
      .leadsTo("rps completed", "P01 dismissed", "P02 dismissed", "REF01 dismissed");
    given(...played, completeLeague("rps"))
      .when(completeLeague("rps"))
      .leadsTo();
  });

  it("does not change players of other unfinished leagues", () => {
    const next = [open("rps", "next"), ...played];
    given(...next)
      .when(completeLeague("rps"))
      .leadsTo("rps completed");
    const entered = [...played, open("next"), player("player 1", { port: 1 })];
    given(...entered)
      .when(completeLeague("rps"))
      .leadsTo("rps completed", "P02 dismissed");
  });

  it("does not dismiss players of an unfinished league that the config no longer lists", () => {
    const absent = { ...stateAfter(played), formerLeagues: [formerLeague("running", "P01")] };
    givenState(absent).when(completeLeague("rps")).leadsTo("rps completed", "P02 dismissed");
  });

  it("dismisses referees that the next league activates again", () => {
    const next = [...played, completeLeague("rps"), open("next")];
    const entered = [...next, player("player 1", { port: 1 }), player("player 2", { port: 2 })];
    given(...entered)
      .when(start("next"))
      .leadsTo(
        "next started",
        "next round_paired",
        "P01 activated",
        "P02 activated",
        "REF01 renewed",
        "REF01 activated",
      );
    given(...entered, start("next"))
      .when(referee("late", { port: 9001 }))
      .leadsTo("REF02 registered", "REF02 activated");
  });

  it("is rejected while a match is open", () => {
    const decided = completeLeague("rps")(stateAfter(startedLeague("rps", 2)), "");
    expect(decided).toMatchObject({ ok: false, error: { error_code: "L005" } });
  });

  it("lets its players enter an open league in the state REGISTERED, and does not change players that only register again", () => {
    const over = [...played, completeLeague("rps")];
    const again = player("player 2", { port: 2 });
    given(...over)
      .when(again)
      .leadsTo();
    const { state } = given(...over, open("next"))
      .when(again)
      .leadsTo("next player_entered", "P02 renewed");
    expect(state.agents.get("P02")).toMatchObject({ state: "REGISTERED", fails: 0 });
  });
});

describe("a player that an operator removes", () => {
  it("is forgotten when it was in open leagues only", () => {
    const removed = given(open("b"), ...twoPlayers).when(removePlayer("P01"));
    removed.leadsTo("b player_left", "rps player_left", "P01 forgotten");
    removed.replies({ playerId: "P01", name: "A" }).writes({ type: "erase_profile", agentId: "P01" });
    expect(removed.state.lastForgotten).toEqual({ player: 1, referee: 0 });
  });

  it("stays registered if it is in a running league or in one that the config no longer lists", () => {
    const { state } = given(...startedLeague("rps", 2))
      .when(removePlayer("P01"))
      .leadsTo("rps player_left", "P01 removed");
    expect(state.leagues.get("rps")?.entrants.has("P01")).toBe(true);
    const former = { ...stateAfter(twoPlayers), formerLeagues: [formerLeague("completed", "P01")] };
    givenState(former).when(removePlayer("P01")).leadsTo("rps player_left", "P01 removed");
  });

  it("must be a registered player", () => {
    given(...twoPlayers, referee("R"))
      .when(removePlayer("REF01"))
      .isRejected("L004", "no player REF01 is registered");
    given(...twoPlayers)
      .when(resetToken("P09", tokenOf("x"), []))
      .isRejected("L004", "no player P09 is registered");
  });
});

it("the reset of the token of a player that the run starts is rejected", () => {
  const place = { ...playerPlace("P01", "A"), startedByRun: { endpoint: "http://127.0.0.1:1/mcp", tokenHash: "h" } };
  given(...twoPlayers)
    .when(resetToken("P01", tokenOf("x"), [place]))
    .isRejected("L001", "P01 is started by this run, which manages its token");
});

it("an answered health probe lets a player recover if it is suspended and registered", () => {
  const suspended = [...startedLeague("rps", 2), ...playLeague("rps")];
  given(...suspended)
    .when(recoverPlayer("P02"))
    .leadsTo("P02 recovered");
  given(...suspended)
    .when(recoverPlayer("P01"))
    .leadsTo();
  given(...suspended)
    .when(recoverPlayer("P09"))
    .leadsTo();
});

it("an aborted match can be assigned again under its next epoch", () => {
  const abort = report(aborted({ matchId: "R1M1", players: ["P01", "P02"] }));
  given(...startedLeague("rps", 2), openRound("rps", 1), assign("R1M1"), abort)
    .when(assign("R1M1", "rps", 2))
    .leadsTo("rps match_assigned");
});
