import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import { MAX_PLAYERS } from "../agents/admission.ts";
import { nameCommitment } from "../agents/registered-agent.ts";
import { removePlayer, resetToken } from "./agent-commands.ts";
import { startLeague } from "./league-commands.ts";
import {
  AT,
  alreadyRegistered,
  applied,
  departed,
  endpointAt,
  formerLeague,
  given,
  givenState,
  open,
  POLICY,
  player,
  playerPlace,
  referee,
  stateAfter,
  tokenOf,
  withMaxPlayers,
} from "./testing/commands.ts";

describe("a new player", () => {
  it("enters every open league of its games in one append and keeps the token that it proposes", () => {
    given(open("rps", "other"))
      .when(player("Ann", { announcements: false, batch: true }))
      .leadsTo("rps player_entered", "other player_entered", "P01 registered")
      .replies({ type: "registered", agentId: "P01", token: tokenOf("Ann"), isNew: true, leagueIds: ["rps", "other"] })
      .writes({
        type: "profile",
        agentId: "P01",
        profile: { name: "Ann", salt: "salt Ann", endpoint: endpointAt(9000), tokenHash: sha256Hex(tokenOf("Ann")) },
      });
  });

  it("is stored with its declared capabilities, and in each league with a commitment to its name", () => {
    const { state } = given(open("rps")).when(
      player("Ann", { announcements: false, legal_actions: false, batch: true }),
    );
    expect(state.agents.get("P01")).toMatchObject({
      wantsAnnouncements: false,
      wantsLegalActions: false,
      wantsRoundResults: true,
    });
    const commitment = nameCommitment({ name: "Ann", salt: "salt Ann" });
    expect([...(state.leagues.get("rps")?.entrants ?? [])]).toEqual([["P01", commitment]]);
  });

  it("can decline announcements", () => {
    const request = { display_name: "Ann", game_types: [], contact_endpoint: endpointAt(1), announcements: false };
    expect(PlayerRegisterRequest.parse(request)).toMatchObject({ announcements: false });
  });

  it("enters either all leagues that it names or none", () => {
    given(open("rps", "other"))
      .when(player("Ann", { league_ids: ["rps"] }))
      .replies({ leagueIds: ["rps"] });
    const unknown = player("Ann", { league_ids: ["rps", "gone"] });
    given(open("rps", "other")).when(unknown).isRejected("L005", "no league gone; there are rps, other");
  });

  it.each([
    ["no token", null],
    ["a text without the form of a token", "secret"],
    ["the operator's token", tokenOf("operator")],
    ["the token of another agent", tokenOf("Bob")],
  ])("gets a new token when it proposes %s", (_, token) => {
    const policy = { ...POLICY, operatorTokenHash: sha256Hex(tokenOf("operator")) };
    given(open("rps"), player("Bob", { port: 9009 }))
      .when(player("Ann", { token }, policy))
      .replies({ agentId: "P02", token: tokenOf("new Ann") });
  });

  it("is rejected when its endpoint is not an HTTP URL or is at another address", () => {
    const registerAt = (contact_endpoint: string) => given(open("rps")).when(player("Ann", { contact_endpoint }));
    registerAt("ftp://127.0.0.1/mcp").isRejected("L001", "contact_endpoint is not an http URL");
    const message = "contact_endpoint must be at the address you register from (127.0.0.1) or allowed by the config";
    registerAt("http://192.0.2.1:9000/mcp").isRejected("L001", message);
  });

  it("needs the join code, unless it registers again with its token", () => {
    const policy = { ...POLICY, joinCode: "word" };
    const message =
      "the join code is missing or wrong: ask the operator for it and pass --join-code WORD (over HTTP the field join_code)";
    const withCode = player("Ann", { join_code: "word" }, policy);
    given(open("rps"))
      .when(player("Ann", {}, policy))
      .isRejected("L001", message);
    given(open("rps"))
      .when(player("Ann", { join_code: "sword" }, policy))
      .isRejected("L001", message);
    given(open("rps"), withCode)
      .when(player("Ann", {}, policy))
      .replies({ agentId: "P01", isNew: false });
  });
});

describe("a returning player", () => {
  it("causes no event if nothing has changed", () => {
    given(open("rps"), player("Ann"))
      .when(player("Ann"))
      .leadsTo()
      .replies({ agentId: "P01", token: tokenOf("Ann"), isNew: false });
  });

  it("keeps its name, and may change its endpoint", () => {
    const { state } = given(open("rps"), player("Ann", { port: 1 })).when(
      player("Anna", { port: 1, token: tokenOf("Ann"), batch: true }),
    );
    expect(state.agents.get("P01")).toMatchObject({ name: "Ann", salt: "salt Ann" });
    const returned = given(open("rps"), player("Ann", { port: 1 })).when(player("Ann", { port: 2 }));
    returned.leadsTo("P01 returned");
    expect(returned.state.agents.get("P01")?.endpoint).toBe(endpointAt(2));
  });

  it("is unchanged if it sends the normalized form of its endpoint, which has at most 2,000 characters", () => {
    const odd = player("Ann", { contact_endpoint: "HTTP://127.0.0.1:80/\ud800" });
    const { state } = given(open("rps")).when(odd);
    const endpoint = "http://127.0.0.1/%EF%BF%BD";
    expect(state.agents.get("P01")?.endpoint).toBe(endpoint);
    givenState(state)
      .when(player("Ann", { contact_endpoint: endpoint }))
      .leadsTo();
    const long = player("Ann", { contact_endpoint: `http://127.0.0.1/${"é".repeat(400)}` });
    given(open("rps")).when(long).isRejected("L001", "contact_endpoint is longer than 2000 characters as a URL");
  });

  it("can change at most once per second, and can register without changes at any time", () => {
    const state = stateAfter([open("rps"), player("Ann", { port: 1 }), player("Ann", { port: 2 })]);
    const [again, unchanged] = [player("Ann", { port: 1 }), player("Ann", { port: 2 })];
    const [early, late] = ["2026-01-01T00:00:00.999Z", "2026-01-01T00:00:01.000Z"];
    expect(again(state, early)).toMatchObject({ ok: false, error: { error_code: "L001", retryable: true } });
    expect(again(state, late)).toMatchObject({ ok: true, value: { agentEvents: [{ event: { type: "returned" } }] } });
    expect(unchanged(state, early)).toMatchObject({ ok: true, value: { agentEvents: [] } });
  });

  it("is stored with the games of this program, in the order of the registry", () => {
    const registration = { game_types: ["rps.v1", "rps.v1", "chess", "x".repeat(200), "rps"] };
    const { state } = given(open("rps")).when(player("Ann", registration));
    expect(state.agents.get("P01")?.gameTypes).toEqual(["rps", "rps.v1", "chess"]);
    given(open("rps"), player("Ann", registration))
      .when(player("Ann", { game_types: ["chess", "rps", "rps.v1", "other"] }))
      .leadsTo();
  });

  it("needs the new token after a reset", () => {
    const reset = resetToken("P01", tokenOf("reset"), []);
    given(open("rps"), player("Ann"), reset).when(player("Ann")).isRejected("L003", alreadyRegistered("the name Ann"));
    const returning = player("Ann", { token: tokenOf("reset") });
    given(open("rps"), player("Ann"), reset)
      .when(returning)
      .replies({ agentId: "P01", token: tokenOf("reset") });
  });

  it("enters leagues that have opened since its registration", () => {
    const returned = given(open("rps"), player("Ann"), open("next")).when(player("Ann"));
    returned.leadsTo("next player_entered").replies({ leagueIds: ["rps", "next"] });
  });

  it("enters an open league after it was removed, if it is in no running league", () => {
    const over = [open("rps"), player("Ann"), removePlayer("P01")];
    // A player that was only in open leagues was forgotten, so this is a new player.
    given(...over)
      .when(player("Ann"))
      .leadsTo("rps player_entered", "P02 registered");
    const former = stateAfter([open("rps"), player("Ann")]);
    const shutDown = stateAfter([removePlayer("P01")], {
      ...former,
      formerLeagues: [formerLeague("completed", "P01")],
    });
    givenState(shutDown).when(player("Ann")).leadsTo("rps player_entered", "P01 renewed").replies({ agentId: "P01" });
  });

  it("stays shut down and cannot enter other leagues while its league runs", () => {
    const running = [
      open("rps"),
      player("A", { port: 1 }),
      player("B", { port: 2 }),
      referee("R"),
      startLeague("rps", "seed"),
    ];
    const removed = [...running, removePlayer("P01"), open("next")];
    given(...removed)
      .when(player("A", { port: 1 }))
      .leadsTo()
      .replies({ leagueIds: ["rps"] });
    given(...removed)
      .when(player("A", { port: 1, league_ids: ["next"] }))
      .isRejected("L001", "the player is shut down until its running leagues are over");
  });
});

describe("the entries of a league", () => {
  it("are limited by max_players, even for players that register in one batch", () => {
    const state = stateAfter([
      open("rps"),
      player("A", { port: 1 }, withMaxPlayers(2)),
      player("B", { port: 2 }, withMaxPlayers(2)),
    ]);
    givenState(state)
      .when(player("C", { port: 3 }, withMaxPlayers(2)))
      .isRejected("L002", "every league of your games is full");
    const named = player("C", { port: 3, league_ids: ["rps"] }, withMaxPlayers(2));
    givenState(state).when(named).isRejected("L002", "league rps is full");
    givenState(state)
      .when(player("A", { port: 9 }, withMaxPlayers(2)))
      .replies({ agentId: "P01", leagueIds: ["rps"] });
  });

  it("are limited to 500 without max_players", () => {
    const many = Array.from({ length: MAX_PLAYERS }, (_, n) => player(`N${n}`, { port: 10_000 + n }));
    const state = stateAfter([open("rps"), ...many]);
    expect(state.leagues.get("rps")?.entrants.size).toBe(500);
    givenState(state)
      .when(player("more", { port: 1 }))
      .isRejected("L002", "every league of your games is full");
  });

  it("are limited to the players of a roster, regardless of min_players and max_players", () => {
    const policy = {
      ...withMaxPlayers(1),
      startWhen: "roster" as const,
      places: [playerPlace("P01", "A"), playerPlace("P02", "B")],
    };
    const state = stateAfter([open("rps"), player("B", { port: 2 }, policy)]);
    expect([...state.agents.keys()]).toEqual(["P02"]);
    givenState(state)
      .when(player("A", { port: 1 }, policy))
      .replies({ agentId: "P01", leagueIds: ["rps"] });
    givenState(state)
      .when(player("D", { port: 4 }, policy))
      .isRejected("L002", 'the league accepts only the players of its config, and "D" is not one of them');
  });

  it("require a token for the name or endpoint of an agent that the run starts", () => {
    const startedByRun = { endpoint: endpointAt(9101), tokenHash: sha256Hex(tokenOf("run")) };
    const policy = {
      ...POLICY,
      startWhen: "roster" as const,
      places: [{ ...playerPlace("P01", "Ann"), startedByRun }],
    };
    given(open("rps"))
      .when(player("Ann", { port: 9109 }, policy))
      .isRejected("L003", "the name Ann is reserved for an agent of this run");
    given(open("rps"))
      .when(player("X", { port: 9101 }, policy))
      .isRejected("L003", `the endpoint ${endpointAt(9101)} is reserved for an agent of this run`);
    const ann = player("Ann", { port: 9101, token: tokenOf("run") }, policy);
    given(open("rps"))
      .when(ann)
      .replies({ agentId: "P01", token: tokenOf("run") });
  });
});

describe("the ids of players", () => {
  it("are not used again after a removal", () => {
    const removed = [open("rps"), player("A", { port: 1 }), player("B", { port: 2 }), removePlayer("P02")];
    given(...removed)
      .when(player("C", { port: 3 }))
      .replies({ agentId: "P03" });
    given(...removed)
      .when(player("B", { port: 2 }))
      .replies({ agentId: "P03", isNew: true });
  });

  it("are used again by a removed player of a place", () => {
    const policy = {
      ...POLICY,
      startWhen: "roster" as const,
      places: [playerPlace("P01", "A"), playerPlace("P02", "B")],
    };
    const removed = [
      open("rps"),
      player("A", { port: 1 }, policy),
      player("B", { port: 2 }, policy),
      removePlayer("P01"),
    ];
    given(...removed)
      .when(player("A", { port: 1 }, policy))
      .replies({ agentId: "P01", isNew: true });
  });
});

it("a decision does not change the state that it was made on", () => {
  const state = stateAfter([open("rps"), player("Ann", { port: 1 })]);
  const decided = player("Bob", { port: 1, ...departed("P01") })(state, AT);
  expect(decided.ok && applied(state, decided.value).agents.size).toBe(2);
  expect([...state.agents.values()]).toMatchObject([{ id: "P01", endpoint: endpointAt(1) }]);
  expect([...(state.leagues.get("rps")?.entrants.keys() ?? [])]).toEqual(["P01"]);
});
